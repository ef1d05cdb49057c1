package body

import (
	"bytes"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Message is a body that is an object of a Go type, which protobuf has a form of.
type Message interface {
	runtime.Object
	metav1.Object
	Unmarshal([]byte) error
}

// ReadMessage reads a body in JSON or protobuf, and returns of which kind it says
// to be: of the one that is meant where it says nothing.
func ReadMessage(contentType string, body []byte, into Message, kind string, version schema.GroupVersion) (said schema.GroupVersionKind, err error) {
	meant := version.WithKind(kind)
	if contentType == runtime.ContentTypeProtobuf {
		var envelope runtime.Unknown
		raw, ok := bytes.CutPrefix(body, protobufPrefix)
		if err = envelope.Unmarshal(raw); err != nil || !ok {
			return said, resource.Unrecognized(kind, fmt.Errorf("provided data does not appear to be a protobuf message"), body)
		}
		said, err = envelope.GroupVersionKind(), into.Unmarshal(envelope.Raw)
	} else {
		found, problem := kubejson.DefaultMetaFactory.Interpret(body)
		if problem != nil {
			return said, resource.Unrecognized(kind, problem, body)
		}
		said, err = *found, kjson.UnmarshalCaseSensitivePreserveInts(body, into)
	}
	if err != nil {
		return said, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", kind, version.Version, kind, err))
	}
	if said.Version == "" {
		said.Group, said.Version = meant.Group, meant.Version
	}
	if said.Kind == "" {
		said.Kind = meant.Kind
	}
	return said, nil
}
