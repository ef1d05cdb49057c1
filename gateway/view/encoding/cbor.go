package encoding

import (
	"bytes"
	bits "encoding/binary"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// cborMark says that what follows is CBOR, and changes nothing else.
const cborMark = "\xd9\xd9\xf7"

// FromCBOR makes JSON of an object in CBOR. The library bounds nesting, and how
// many items a list or an object has; sizes are those of the body.
func FromCBOR(data []byte) ([]byte, error) {
	var tree map[string]any
	if err := direct.Unmarshal(bytes.TrimPrefix(data, []byte(cborMark)), &tree); err != nil {
		return nil, err
	}
	if tree == nil { // which the library makes of null and undefined
		return nil, errors.New("it holds no object")
	}
	return object.Encode(tree)
}

// binary is CBOR.
type binary struct{}

// Document implements [Codec].
func (binary) Document(text []byte, _ *crd.Version) ([]byte, error) {
	tree, _, err := object.Parse(text)
	if err != nil {
		return nil, err
	}
	out, err := direct.Marshal(tree)
	if err != nil {
		return nil, err
	}
	return append([]byte(cborMark), out...), nil
}

// Single implements [Codec].
func (b binary) Single(o Object, _ schema.GroupVersionKind) ([]byte, error) {
	return b.Document(o.Bytes(), nil)
}

// Around implements [Codec].
func (b binary) Around(l *List, count, _ int) (head, tail []byte, err error) {
	return between(b, l, count, func(key string) place {
		key = string(rune(cborBytes+len(key))) + key // no key is longer than 23 bytes
		return place{key + "\x80", key + cborArray(count), ""}
	})
}

// AppendItem implements [Codec].
func (b binary) AppendItem(dst []byte, o Object) ([]byte, error) {
	out, err := b.Document(o.Bytes(), nil)
	return append(dst, bytes.TrimPrefix(out, []byte(cborMark))...), err
}

// Event implements [Codec].
func (b binary) Event(scratch *[]byte, event string, o Object, _ schema.GroupVersionKind) (Frame, error) {
	const two, typeKey, objectKey = 0xa2, "\x44type", "\x46object" // a map of two, whose keys are strings
	document, err := encoded(b, o)
	dst := append(append((*scratch)[:0], cborMark...), two)
	dst = append(append(dst, typeKey...), cborBytes+byte(len(event))) // no type is longer than 23 bytes
	*scratch = append(append(dst, event...), objectKey...)
	return Frame{Head: *scratch, Body: document}, err
}

// cborBytes begins a string of bytes, of less than 24, in CBOR.
const cborBytes = 0x40

// cborArray begins an array of so many items in CBOR, in the shortest form.
func cborArray(n int) string {
	const array = 0x80
	switch {
	case n < 24:
		return string([]byte{array + byte(n)})
	case n < 1<<8:
		return string([]byte{array + 24, byte(n)})
	case n < 1<<16:
		return string(bits.BigEndian.AppendUint16([]byte{array + 25}, uint16(n)))
	}
	return string(bits.BigEndian.AppendUint32([]byte{array + 26}, uint32(n))) // more do not fit in memory
}
