package body

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/resource"
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

// Objects come in the media type that the request names, and in no other.
func TestObjectsInTheirMediaType(t *testing.T) {
	for _, tc := range []struct{ contentType, body, want string }{
		{"", `{"a": 1}`, `{"a": 1}`},
		{encoding.TypeJSON, `{"a": 1}`, `{"a": 1}`},
		{encoding.TypeYAML, "a: 1\nb: [x]\n", `{"a":1,"b":["x"]}`},
	} {
		got, err := Body{ContentType: tc.contentType, Data: []byte(tc.body)}.Object(resource.Target{}, new(resource.WriteOptions))
		if err != nil || string(got) != tc.want {
			t.Errorf("%q: %s, %v, want %s", tc.contentType, got, err, tc.want)
		}
	}
}
