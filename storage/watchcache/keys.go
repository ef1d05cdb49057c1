package watchcache

import "strings"

// keys tells where a key of the store belongs: see [Options].
type keys struct {
	prefix   string
	bucketOf func(key string) string
}

// locate splits a full key into its bucket's name and the key in there; ok is
// false for keys that are ignored.
func (k *keys) locate(full string) (name, key string, ok bool) {
	rest, ok := strings.CutPrefix(full, k.prefix)
	if !ok {
		return "", "", false
	}
	name = k.bucketOf(rest)
	if name == "" || len(rest) < len(name)+2 || rest[:len(name)] != name || rest[len(name)] != '/' {
		return "", "", false
	}
	return name, rest[len(name)+1:], true
}
