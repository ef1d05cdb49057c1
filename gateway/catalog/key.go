package catalog

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Keys tells to which resources keys of the store belong.
type Keys struct {
	// Prefix is the root of all object keys, with slashes at both ends.
	Prefix string
	// Builtins are the resources whose keys do not begin with their group, by how
	// their keys begin.
	Builtins map[string]schema.GroupResource
}

// ResourceOf is the resource that a key, or a prefix of keys, belongs to; none for
// the gateway's own keys.
func (k Keys) ResourceOf(key string) schema.GroupResource {
	rest, ok := strings.CutPrefix(key, k.Prefix)
	if !ok {
		return schema.GroupResource{}
	}
	first, rest, _ := strings.Cut(rest, "/")
	if gr, ok := k.Builtins[first]; ok {
		return gr
	}
	second, _, _ := strings.Cut(rest, "/")
	if gr, ok := k.Builtins[first+"/"+second]; ok {
		return gr
	}
	if !strings.Contains(first, ".") {
		return schema.GroupResource{}
	}
	return schema.GroupResource{Group: first, Resource: second}
}

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
