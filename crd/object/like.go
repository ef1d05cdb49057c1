package object

import (
	"bytes"
	"unicode/utf8"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// Text is a tree with the JSON that it was read from. Its managedFields may have
// been taken out since.
type Text struct {
	Data []byte
	Tree map[string]any
}

// Large tells that it is worth while to look for what an object has in common with
// another, as [ParseLike] and [EncodeLike] do, even where they may have nothing.
func Large(data []byte) bool { return len(data) >= 16<<10 }

// ParseLike is [ParseObject] of an object that is likely to say much of what
// another one says, such as the same object at another version. The tree shares
// with that one's the parts that are written the same, so both are only to be
// read from then on. What parts repeat that are shared is not among the duplicates.
func ParseLike(data []byte, other Text) (tree map[string]any, duplicates []string, err error) {
	return parse(parser{data: data, whole: true, like: other})
}

// maxLike is how deep objects are compared with the other tree's. Each level
// goes over the other text once more.
const maxLike = 4

// known are the fields of an object of the other tree: their keys with what
// follows up to the end of the value, and where in that the value begins.
type known struct {
	fields []knownField
	tree   map[string]any
	depth  int
	next   int // where to look first, as both are in the same order
}

type knownField struct{ key, value []byte }

// knownFields reads the fields of the object that p.like is, and forgets that.
func (p *parser) knownFields() (k known) {
	if p.like.Tree == nil {
		return k
	}
	like := p.like
	p.like = Text{}
	return like.fields(p.depth)
}

// fields reads the fields of an object at a depth. It finds none in text that is not
// canonical: what has a field twice, also in two spellings, of which the tree has the last.
func (like Text) fields(depth int) (k known) {
	if k.depth = depth; depth > maxLike {
		return k
	}
	w, err := rawjson.Open(like.Data, 0, true)
	if err != nil || !w.IsObject() {
		return k
	}
	k.tree, k.fields = like.Tree, make([]knownField, 0, len(like.Tree)+1)
	for w.Next() {
		key := w.Key()
		if n := len(k.fields); n > 0 && bytes.Compare(k.fields[n-1].key, key) >= 0 {
			return known{} // which of two would count, or be found
		}
		if bytes.IndexByte(key, '\\') >= 0 || !utf8.Valid(key) {
			return known{} // it may be another spelling of one that is there
		}
		k.fields = append(k.fields, knownField{key, w.Value()})
	}
	if w.Err() != nil {
		return known{}
	}
	return k
}

// find returns the field with that raw key.
func (k *known) find(key []byte) *knownField {
	for n := range k.fields {
		at := k.next + n
		if at >= len(k.fields) {
			at -= len(k.fields)
		}
		if f := &k.fields[at]; bytes.Equal(f.key, key) {
			k.next = at + 1
			return f
		}
	}
	return nil
}

// shared passes the value at the parser's position when the other tree has it
// at that key too. If it has an object there, what is parsed next is like that.
func (p *parser) shared(k *known, raw []byte, key string) (v any, ok bool) {
	f := k.find(raw)
	if f == nil {
		return nil, false
	}
	if v, ok = k.tree[key]; !ok {
		return nil, false
	}
	rest := p.data[p.i:]
	if n := len(f.value); len(rest) > n && (rest[n] == ',' || rest[n] == '}') && bytes.HasPrefix(rest, f.value) {
		p.i += n
		return v, true
	}
	if object, ok := v.(map[string]any); ok && len(rest) > 0 && rest[0] == '{' {
		p.like = Text{f.value, object}
	}
	return nil, false
}
