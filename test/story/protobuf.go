package story

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Protobuf is the media type of objects in protobuf.
const Protobuf = "application/vnd.kubernetes.protobuf"

// envelope begins every object in protobuf.
var envelope = []byte("k8s\x00")

// Types are the Go types of what is sent and answered.
var Types = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme, metav1.AddMetaToScheme, apiregistrationv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // two types of one name
		}
	}
	return s
}()

// ToProtobuf is an object in JSON as a client sends it in protobuf.
func ToProtobuf(text string) (string, error) {
	obj, _, err := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, Types, Types, jsonserializer.SerializerOptions{}).Decode([]byte(text), nil, nil)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = protobuf.NewSerializer(Types, Types).Encode(obj, &b)
	return b.String(), err
}

// FromProtobuf is an object in protobuf as JSON.
func FromProtobuf(data []byte) (json.RawMessage, error) {
	obj, gvk, err := protobuf.NewSerializer(Types, Types).Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(*gvk)
	return json.Marshal(obj)
}

// mostFrame bounds an event in protobuf, in bytes.
const mostFrame = 1 << 20

// frame reads one event of a watch in protobuf: its length, and the event.
func frame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > mostFrame {
		return nil, fmt.Errorf("an event has %d bytes", n)
	}
	data := make([]byte, n)
	_, err := io.ReadFull(r, data)
	return data, err
}

// framesOf are the events of a watch in protobuf as those of one in JSON.
func framesOf(body []byte) ([]byte, error) {
	var out bytes.Buffer
	for r := bytes.NewReader(body); ; {
		data, err := frame(r)
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		var event metav1.WatchEvent
		if err := event.Unmarshal(data); err != nil {
			return nil, err
		}
		object, err := FromProtobuf(event.Object.Raw)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, `{"type":%q,"object":%s}`, event.Type, object)
	}
}
