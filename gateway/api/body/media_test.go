package body

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

func TestMedia_MT04(t *testing.T) {
	for contentType, want := range map[string]string{
		"": encoding.TypeJSON, "application/json": encoding.TypeJSON, "application/json; charset=utf-8": encoding.TypeJSON,
		"application/yaml": encoding.TypeYAML, "text/plain": "text/plain", "Application/YAML": encoding.TypeYAML,
	} {
		if got, err := (Body{ContentType: contentType}).Media(); got != want || err != nil {
			t.Errorf("%q: %q %v", contentType, got, err)
		}
	}
	for _, contentType := range []string{"/", ";", "application/json; x", "text/plain", "application/cbor"} {
		_, err := Body{ContentType: contentType, Data: []byte("{}")}.JSON()
		if !apierrors.IsUnsupportedMediaType(err) {
			t.Errorf("%q: %v", contentType, err)
		}
	}
}
