package object

// EncodeLike is [Encode] of a tree that shares with another one what they have in
// common, as [ParseLike] and merge patches make them. What is one in memory is copied
// from the other's text, which has to be the canonical JSON of the other's tree; that may
// lack its managedFields.
func EncodeLike(tree map[string]any, other Text) ([]byte, error) {
	others := other.fields(1)
	return encode(tree, &others)
}

// append appends the value of a key: as the other text has it, where it is the same.
func (k *known) append(dst []byte, key string, v any) ([]byte, error) {
	w, ok := k.tree[key]
	if !ok || !plain(key) { // whose text may be that of another key
		return Append(dst, v)
	}
	f := k.find([]byte(key))
	if f == nil {
		return Append(dst, v)
	}
	if asBefore(v, w) && !(k.depth == 1 && key == "metadata") { // whose managedFields may have been taken out
		return append(dst, f.value...), nil
	}
	x, ok := v.(map[string]any)
	y, both := w.(map[string]any)
	if !ok || !both {
		return Append(dst, v)
	}
	below := Text{f.value, y}.fields(k.depth + 1)
	return appendMap(dst, x, &below)
}

// asBefore tells that two values are one in memory, or equal strings.
func asBefore(v, w any) bool {
	switch x := v.(type) {
	case string:
		y, ok := w.(string)
		return ok && x == y
	case map[string]any:
		y, ok := w.(map[string]any)
		return ok && x != nil && sameMap(x, y)
	case []any:
		y, ok := w.([]any)
		return ok && len(x) > 0 && sameList(x, y)
	}
	return false
}
