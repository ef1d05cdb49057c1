package api

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// applies tells that the body is a configuration to apply.
func (r *Request) applies(media string) bool {
	return types.PatchType(media) == resource.ApplyPatchType || r.cbor && media == mediaApplyCBOR
}

// applied is the body of an apply as JSON or YAML.
func (r *Request) applied(media string) ([]byte, error) {
	if media != mediaApplyCBOR {
		return r.Body, nil
	}
	out, err := encoding.FromCBOR(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest("error decoding CBOR: " + err.Error())
	}
	return out, nil
}
