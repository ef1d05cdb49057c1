package body

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// mediaApplyCBOR is the media type of a configuration to apply in CBOR.
const mediaApplyCBOR = "application/apply-patch+cbor"

// Media reads the media type of the body. A missing one is JSON.
func (b Body) Media() (string, error) {
	switch b.ContentType {
	case "", encoding.TypeJSON:
		return encoding.TypeJSON, nil
	}
	media, _, err := mime.ParseMediaType(b.ContentType)
	if err != nil {
		return "", b.unsupported()
	}
	return media, nil
}

func (b Body) unsupported() error {
	known := []string{encoding.TypeJSON, encoding.TypeYAML, encoding.TypeProtobuf}
	if b.CBOR {
		known = append(known, encoding.TypeCBOR)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s", strings.Join(known, ", ")),
	}}
}

// Applies reports whether a body of a media type is a configuration to apply.
func (b Body) Applies(media string) bool {
	return types.PatchType(media) == types.ApplyYAMLPatchType || b.CBOR && media == mediaApplyCBOR
}
