package api

import (
	"bytes"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

const (
	mediaCBOR = "application/cbor"
	// mediaCBORSequence is a watch in CBOR: one item after the other.
	mediaCBORSequence = "application/cbor-seq"
	// mediaApplyCBOR is a configuration to apply in CBOR.
	mediaApplyCBOR = "application/apply-patch+cbor"
)

// cborMark says that what follows is CBOR, and changes nothing else.
const cborMark = "\xd9\xd9\xf7"

// toCBOR makes CBOR of an object in JSON.
func toCBOR(data []byte) ([]byte, error) {
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, err
	}
	out, err := direct.Marshal(tree)
	if err != nil {
		return nil, err
	}
	return append([]byte(cborMark), out...), nil
}

// fromCBOR makes JSON of an object in CBOR. The library bounds nesting, and how
// many items a list or an object has; sizes are those of the body.
func fromCBOR(data []byte) ([]byte, error) {
	var tree map[string]any
	if err := direct.Unmarshal(bytes.TrimPrefix(data, []byte(cborMark)), &tree); err != nil {
		return nil, err
	}
	if tree == nil { // which the library makes of null and undefined
		return nil, errors.New("it holds no object")
	}
	return object.Encode(tree)
}

// cborEvent is an event of a watch, whose object is CBOR.
func cborEvent(dst []byte, kind string, object []byte) []byte {
	const two, typeKey, objectKey = 0xa2, "\x44type", "\x46object" // a map of two, whose keys are strings
	dst = append(append(dst, cborMark...), two)
	dst = append(append(dst, typeKey...), 0x40+byte(len(kind))) // no type is longer than 23 bytes
	dst = append(append(dst, kind...), objectKey...)
	return append(dst, object...)
}

// applies tells that the body is a configuration to apply.
func (r *Request) applies(media string) bool {
	return types.PatchType(media) == resource.ApplyPatchType || r.cbor && media == mediaApplyCBOR
}

// applied is the body of an apply as JSON or YAML.
func (r *Request) applied(media string) ([]byte, error) {
	if media != mediaApplyCBOR {
		return r.Body, nil
	}
	out, err := fromCBOR(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest("error decoding CBOR: " + err.Error())
	}
	return out, nil
}
