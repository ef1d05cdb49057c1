package wire

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// marshaler is a Go type that has a protobuf form.
type marshaler interface {
	Marshal() ([]byte, error)
}

// FromJSON makes a message of the JSON of an object, by way of its Go type, of
// which into is an empty value. The message is bare and has the resourceVersion
// of the JSON.
func FromJSON(data []byte, into runtime.Object) ([]byte, error) {
	m, ok := into.(marshaler)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf form", into)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, into); err != nil {
		return nil, err
	}
	return m.Marshal()
}
