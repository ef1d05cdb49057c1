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
