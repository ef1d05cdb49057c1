package encoding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Text is an object in JSON, or in another media type that is complete as it is.
type Text []byte

// Bytes implements [Object].
func (t Text) Bytes() []byte { return t }

// Size implements [Object].
func (t Text) Size() int { return len(t) }

// AppendTo implements [Object].
func (t Text) AppendTo(dst []byte) []byte { return append(dst, t...) }

// PartialHead begins a PartialObjectMetadata at a version of meta.k8s.io, before its
// metadata.
func PartialHead(version string) string {
	if version == "v1beta1" {
		return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":`
	}
	return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`
}

// text is JSON.
type text struct{}

// Document implements [Codec].
func (text) Document(text []byte, _ *crd.Version) ([]byte, error) { return text, nil }

// Single implements [Codec].
func (text) Single(o Object, _ schema.GroupVersionKind) ([]byte, error) {
	return o.Bytes(), nil
}

// Around implements [Codec].
func (text) Around(l *List, count, _ int) (head, tail []byte, err error) {
	f := l.frame()
	if count == 0 && l.Null {
		return append(f.head[:len(f.head)-1], "null"...), f.tail[1:], nil
	}
	return f.head, f.tail, nil
}

// AppendItem implements [Codec].
func (text) AppendItem(dst []byte, o Object) ([]byte, error) { return o.AppendTo(dst), nil }

// eventTail ends an event.
const eventTail = "}\n"

// Event implements [Codec].
func (text) Event(scratch *[]byte, event string, o Object, _ schema.GroupVersionKind) (Frame, error) {
	*scratch = appendEventHead((*scratch)[:0], event)
	return Frame{*scratch, bytes.TrimSuffix(o.Bytes(), []byte("\n")), eventTail}, nil
}

func appendEventHead(dst []byte, event string) []byte {
	return append(append(append(dst, `{"type":"`...), event...), `","object":`...)
}

// Keep implements [Keeper].
func (text) Keep(text []byte, in Encoding, _ *crd.Version) ([]byte, error) {
	if in.Form == Whole && !in.Unmanaged {
		return text, nil
	}
	s, e, err := object.Metadata(text)
	if err != nil {
		return nil, err
	}
	before, after := text[:s], text[e:]
	if in.Form == Metadata {
		before, after = []byte(PartialHead(in.Version)), []byte("}")
	}
	out := append(make([]byte, 0, len(before)+e-s+len(after)), before...)
	if in.Unmanaged {
		out = appendUnmanaged(out, text[s:e])
	} else {
		out = append(out, text[s:e]...)
	}
	return append(out, after...), nil
}

// appendUnmanaged appends a metadata object without its managedFields.
func appendUnmanaged(dst, meta []byte) []byte {
	separator := byte('{')
	object.EachField(meta, func(name string, value []byte) bool {
		if name != "managedFields" {
			dst = append(append(object.AppendString(append(dst, separator), name), ':'), value...)
			separator = ','
		}
		return true
	})
	if separator == '{' {
		dst = append(dst, separator)
	}
	return append(dst, '}')
}

// Object implements [Keeper].
func (text) Object(kept []byte, revision int64) (Object, error) {
	said, _ := object.String(object.Field(object.Field(kept, "metadata"), "resourceVersion"))
	if said == strconv.FormatInt(revision, 10) || said == "" && revision == 0 { // 0 is of what is not stored
		return Text(kept), nil
	}
	out, err := object.WithRevision(kept, revision)
	return Text(out), err
}

// ItemSize implements [Keeper].
func (text) ItemSize(o Object) int { return o.Size() }

// frame is a list in JSON without its items, which stand between head and tail
// under a key.
type frame struct {
	key        string
	head, tail []byte
}

func (l *List) frame() frame {
	if l.Table != nil {
		const tail = "]}\n" // the rows come last
		return frame{"rows", bytes.TrimSuffix(l.Table, []byte(tail)), []byte(tail)}
	}
	head := append(object.AppendString([]byte(`{"apiVersion":`), l.APIVersion), `,"items":[`...)
	tail := append(object.AppendString([]byte(`],"kind":`), l.Kind), `,"metadata":{`...)
	if l.Continue != "" {
		tail = append(object.AppendString(append(tail, `"continue":`...), l.Continue), ',')
	}
	if l.RemainingItemCount != nil {
		tail = fmt.Appendf(tail, `"remainingItemCount":%d,`, *l.RemainingItemCount)
	}
	if l.ResourceVersion != "" {
		tail = append(object.AppendString(append(tail, `"resourceVersion":`...), l.ResourceVersion), ',')
	}
	if l.ShardInfo != nil {
		tail = append(object.AppendString(append(tail, `"shardInfo":{"selector":`...), l.ShardInfo.Selector), "},"...)
	}
	return frame{"items", head, append(bytes.TrimSuffix(tail, []byte(",")), "}}\n"...)}
}

// place is how a media type shows a list that has no items, and where it has some.
type place struct{ none, begins, ends string }

// between is Around for what is made of JSON: the list is encoded without items,
// which is seen where it says none; it then begins to have items, and ends to. None
// of these can be part of a text in the list, as that media type writes texts, nor of
// a kind.
func between(c Codec, l *List, count int, at func(key string) place) (head, tail []byte, err error) {
	f := l.frame()
	if count == 0 {
		if head, tail, err = (text{}).Around(l, 0, 0); err == nil {
			head, err = c.Document(append(head, tail...), nil)
		}
		return head, nil, err
	}
	empty, err := c.Document(slices.Concat(f.head, f.tail), nil)
	if err != nil {
		return nil, nil, err
	}
	p := at(f.key)
	before, after, ok := bytes.Cut(empty, []byte(p.none))
	if !ok {
		return nil, nil, fmt.Errorf("%q has no place for items", empty)
	}
	return append(bytes.Clone(before), p.begins...), append([]byte(p.ends), after...), nil
}

// indented is JSON for people.
type indented struct{ text }

// Document implements [Codec]. What would sprawl is left as it is.
func (indented) Document(text []byte, _ *crd.Version) ([]byte, error) {
	if sprawls(text) {
		return text, nil
	}
	var b bytes.Buffer
	err := json.Indent(&b, text, "", "  ")
	return b.Bytes(), err
}

// Single implements [Codec].
func (i indented) Single(o Object, _ schema.GroupVersionKind) ([]byte, error) {
	return i.Document(o.Bytes(), nil)
}

// Event implements [Codec].
func (i indented) Event(scratch *[]byte, event string, o Object, kind schema.GroupVersionKind) (Frame, error) {
	document, err := encoded(i, o)
	if err != nil {
		return Frame{}, err
	}
	return i.text.Event(scratch, event, Text(document), kind)
}

// encoded is an object as a document, which it may be already.
func encoded(c Codec, o Object) ([]byte, error) {
	if e, ok := o.(Encoded); ok {
		return e.Text, nil
	}
	return c.Document(o.Bytes(), nil)
}

// Around implements [Codec].
func (i indented) Around(l *List, count, _ int) (head, tail []byte, err error) {
	return between(i, l, count, func(key string) place {
		key = "\n  \"" + key + "\": ["
		return place{key + "]", key, "\n  ]"}
	})
}

// AppendItem implements [Codec].
func (indented) AppendItem(dst []byte, o Object) ([]byte, error) {
	const indent = "    "
	text := trimmed(o)
	if dst = append(dst, "\n"+indent...); sprawls(text) {
		return append(dst, text...), nil
	}
	b := bytes.NewBuffer(dst)
	err := json.Indent(b, text, indent, "  ")
	return b.Bytes(), err
}

// trimmed is an object without the white space at its end, which [json.Indent] would keep.
func trimmed(o Object) []byte { return bytes.TrimRight(o.Bytes(), " \t\r\n") }
