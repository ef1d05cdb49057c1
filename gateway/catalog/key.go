package catalog

import "strings"

// SplitKey cuts a key below its bucket into namespace and name.
func SplitKey(key string) (namespace, name string) {
	if namespace, name, ok := strings.Cut(key, "/"); ok {
		return namespace, name
	}
	return "", key
}

// JoinKey is the key below its bucket of an object.
func JoinKey(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// bucketOf finds the definition prefix of a key: a built-in's, of which some
// have two segments, or the first two segments for a group (which has a dot, so it is no built-in's plural).
func bucketOf(builtins map[string]bool, key string) string {
	first, rest, ok := strings.Cut(key, "/")
	if !ok {
		return ""
	}
	if builtins[first] {
		return first
	}
	second, _, ok := strings.Cut(rest, "/")
	both := key[:len(first)+1+len(second)]
	if !ok || !builtins[both] && !strings.Contains(first, ".") {
		return ""
	}
	return both
}
