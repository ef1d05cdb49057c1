package body

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Media types of bodies.
const (
	mediaJSON     = "application/json"
	mediaYAML     = "application/yaml"
	mediaProtobuf = wire.MediaType
	mediaCBOR     = "application/cbor"
	// mediaApplyCBOR is a configuration to apply in CBOR.
	mediaApplyCBOR = "application/apply-patch+cbor"
)

// Media reads the media type of the body. A missing one is JSON.
func (b Body) Media() (string, error) {
	switch b.ContentType {
	case "", mediaJSON:
		return mediaJSON, nil
	}
	media, _, err := mime.ParseMediaType(b.ContentType)
	if err != nil {
		return "", b.unsupported()
	}
	return media, nil
}

func (b Body) unsupported() error {
	known := []string{mediaJSON, mediaYAML, mediaProtobuf}
	if b.CBOR {
		known = append(known, mediaCBOR)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s", strings.Join(known, ", ")),
	}}
}

// Applies reports whether a body of a media type is a configuration to apply.
func (b Body) Applies(media string) bool {
	return types.PatchType(media) == resource.ApplyPatchType || b.CBOR && media == mediaApplyCBOR
}
