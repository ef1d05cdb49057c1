package api

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"
)

// layout is how an encoding makes a list: of what stands around the items, which is
// there from the start, and of one item after the other.
type layout struct {
	before, after []byte
	// add appends item i, which is JSON.
	add func(dst []byte, i int, item []byte) ([]byte, error)
}

// frame is a list in JSON without its items, which stand between head and tail
// under a key.
type frame struct {
	key        string
	head, tail []byte
}

// layout is that of a frame with so many items.
func (f form) layout(list frame, count int) (layout, error) {
	if f.media == mediaJSON && !f.pretty {
		return layout{list.head, list.tail, addJSON}, nil
	}
	empty, err := f.encode(nil, slices.Concat(list.head, list.tail))
	if err != nil || count == 0 {
		return layout{before: empty}, err
	}
	switch f.media {
	case mediaYAML:
		key := "\n" + list.key + ":"
		return between(empty, key+" []\n", key+"\n", "", addYAML)
	case mediaCBOR:
		key := string(rune(cborBytes+len(list.key))) + list.key // no key is longer than 23 bytes
		return between(empty, key+"\x80", key+cborArray(count), "", addCBOR)
	}
	key := "\n  \"" + list.key + "\": ["
	return between(empty, key+"]", key, "\n  ]", addIndented)
}

// between is the layout of a list that was encoded without items, which is seen
// where it says none; it then begins to have items, and ends to. None of these
// can be part of a text in the list, as that encoding writes texts, nor of a kind.
func between(empty []byte, none, begins, ends string, add func([]byte, int, []byte) ([]byte, error)) (layout, error) {
	before, after, ok := bytes.Cut(empty, []byte(none))
	if !ok {
		return layout{}, fmt.Errorf("%q has no place for items", empty)
	}
	return layout{append(bytes.Clone(before), begins...), append([]byte(ends), after...), add}, nil
}

func addJSON(dst []byte, i int, item []byte) ([]byte, error) {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(dst, item...), nil
}

func addIndented(dst []byte, i int, item []byte) ([]byte, error) {
	dst, _ = addJSON(dst, i, nil)
	const indent = "    "
	b := bytes.NewBuffer(append(dst, "\n"+indent...))
	err := json.Indent(b, item, indent, "  ")
	return b.Bytes(), err
}

func addYAML(dst []byte, _ int, item []byte) ([]byte, error) {
	out, err := yaml.JSONToYAML(slices.Concat([]byte("["), item, []byte("]")))
	return append(dst, out...), err
}

func addCBOR(dst []byte, _ int, item []byte) ([]byte, error) {
	out, err := toCBOR(item)
	return append(dst, bytes.TrimPrefix(out, []byte(cborMark))...), err
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
		return string(binary.BigEndian.AppendUint16([]byte{array + 25}, uint16(n)))
	}
	return string(binary.BigEndian.AppendUint32([]byte{array + 26}, uint32(n))) // more do not fit in memory
}
