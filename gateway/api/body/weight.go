package body

import (
	"bytes"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"k8s.io/apimachinery/pkg/types"
)

// Aliased is how much memory decoding the body takes besides its weight when each
// alias stands for what it refers to. Telling it takes the weight itself.
func (b Body) Aliased() int {
	media, err := b.Media()
	if err != nil || media != encoding.TypeYAML && media != string(types.ApplyYAMLPatchType) || !mayAlias(b.Data) || json.Valid(b.Data) {
		return 0
	}
	n, err := expanded(b.Data)
	if err != nil || n.bytes > maxExpanded {
		return 0 // it is refused
	}
	return perByte*n.bytes + perNode*n.nodes
}

// What a piece of a body takes in bytes while it is decoded, with what the
// collector has not come to yet, as measured with three megabytes of each alone:
// trees of maps and lists in JSON and CBOR, nodes of a document besides them in
// YAML, and for a message the largest Go type that is repeated. perByte is for
// the text itself, and its copies.
const (
	perByte                           = 4
	perObject, perList, perElement    = 400, 64, 100
	perPair, perOpening, perBlockItem = 700, 700, 220
	perMap, perItem                   = 300, 50
	perNode                           = 300
	perMessage, perField, perNumber   = 1000, 64, 64
	// perNested is a byte of messages that are nested too deeply to be counted.
	perNested = 500
	// perEndless is more than there is for all.
	perEndless = 1 << 40
	// unsure is the weight above which it is worth another look at the body to
	// tell what separates values from what is in texts.
	unsure = 32 << 20
)

// Weight is about how much memory decoding the body takes, told without doing so:
// by what separates its values.
func (b Body) Weight() int {
	if len(b.Data) == 0 {
		return 0
	}
	media, err := b.Media()
	if err != nil {
		return 0 // it is refused unread
	}
	body := b.Data
	switch media {
	case encoding.TypeProtobuf:
		return messageWeight(body)
	case encoding.TypeCBOR, mediaApplyCBOR:
		items, maps := cborItems(body)
		return perByte*len(body) + perItem*items + perMap*maps
	case encoding.TypeYAML, string(types.ApplyYAMLPatchType):
		return yamlWeight(body)
	}
	return jsonWeight(body)
}

// TooHeavy refuses a body that decoding would take weight bytes for, where there are
// most. One that no decoder reads to its end is a bad request, as to kube-apiserver.
func (b Body) TooHeavy(weight, most int) error {
	if b.deep() {
		return apierrors.NewBadRequest(fmt.Sprintf("the body is nested deeper than %d levels", object.MaxDepth))
	}
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
		"decoding the body takes about %d MiB of memory, at most %d MiB are allowed: send fewer values at a time", weight>>20, most>>20))
}

// deep reports whether the brackets of a text open more levels than any decoder
// reads. It takes YAML's other quotes and comments for structure, so it may only say
// why a body is refused, and not whether.
func (b Body) deep() bool {
	depth := 0
	for inside, i := false, 0; i < len(b.Data) && depth <= object.MaxDepth; i++ {
		switch c := b.Data[i]; {
		case c == '"':
			inside = !inside
		case inside && c == '\\':
			i++
		case inside:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
	}
	return depth > object.MaxDepth
}

// messageWeight is the weight of protobuf.
func messageWeight(body []byte) int {
	c := wire.Count(body)
	switch {
	case c.Endless:
		return perEndless
	case c.Deep:
		return perNested * len(body)
	}
	return perByte*(len(body)+c.Beyond) + perMessage*c.Messages + perField*c.Fields + perNumber*c.Numbers
}

// jsonWeight is the weight of JSON.
func jsonWeight(body []byte) int {
	n := perByte*len(body) + perObject*count(body, '{') + perList*count(body, '[') + perElement*count(body, ',')
	if n < unsure {
		return n
	}
	n = perByte * len(body)
	for inside, i := false, 0; i < len(body); i++ {
		switch b := body[i]; {
		case b == '"':
			inside = !inside
		case inside && b == '\\':
			i++
		case inside:
		case b == '{':
			n += perObject
		case b == '[':
			n += perList
		case b == ',':
			n += perElement
		}
	}
	return n
}

// yamlWeight is the weight of YAML, and of JSON that is called so.
func yamlWeight(body []byte) int {
	n := perByte*len(body) + perPair*(count(body, ':')+count(body, ',')+count(body, '?')) +
		perOpening*(count(body, '{')+count(body, '[')) + perBlockItem*count(body, '-')
	if n >= unsure && json.Valid(body) {
		return jsonWeight(body)
	}
	return n
}

func count(body []byte, separator byte) int { return bytes.Count(body, []byte{separator}) }

// The heads of CBOR's items: a major type in three bits, and in the others an
// argument, or where it is.
const (
	cborBytesType, cborTextType, cborMapType = 2, 3, 5
	cborOneByte, cborEightBytes              = 24, 27
)

// cborItems is how many items there are in CBOR, and how many of them are maps,
// up to what is none.
func cborItems(data []byte) (items, maps int) {
	for len(data) > 0 {
		major, low := data[0]>>5, data[0]&0x1f
		data = data[1:]
		argument := uint64(low)
		if low >= cborOneByte && low <= cborEightBytes {
			size := 1 << (low - cborOneByte)
			if len(data) < size {
				return items, maps
			}
			argument = 0
			for _, b := range data[:size] {
				argument = argument<<8 | uint64(b)
			}
			data = data[size:]
		}
		items++
		switch major {
		case cborMapType:
			maps++
		case cborBytesType, cborTextType:
			if low > cborEightBytes { // in pieces, which are items
				continue
			}
			if argument > uint64(len(data)) {
				return items, maps
			}
			data = data[argument:]
		}
	}
	return items, maps
}
