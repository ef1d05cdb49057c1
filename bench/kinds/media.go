package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// The types in which objects are sent.
const (
	inJSON     = "application/json"
	inYAML     = "application/yaml"
	inProtobuf = "application/vnd.kubernetes.protobuf"
)

// medias are those of files, by how their names end.
var medias = map[string]string{".json": inJSON, ".yaml": inYAML, ".yml": inYAML, ".pb": inProtobuf}

var messages = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

// fromProtobuf is the object of a file; nil if it is none.
func fromProtobuf(from string, data []byte) map[string]any {
	o, gvk, err := messages.Decode(data, nil, nil)
	if err != nil {
		log.Printf("%s: %v", from, err)
		return nil
	}
	o.GetObjectKind().SetGroupVersionKind(*gvk)
	text, err := json.Marshal(o)
	if err != nil {
		log.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		log.Fatal(err)
	}
	return tree
}

// encode is an object in a media type.
func encode(tree map[string]any, media string) ([]byte, error) {
	switch media {
	case inYAML:
		return yaml.Marshal(tree)
	case inProtobuf:
		apiVersion, _ := tree["apiVersion"].(string)
		kind, _ := tree["kind"].(string)
		o, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(apiVersion, kind))
		if err != nil {
			return nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, o); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = messages.Encode(o, &out)
		return out.Bytes(), err
	}
	return json.Marshal(tree)
}

// causes are the reasons and fields that a Status names, in order.
func causes(status map[string]any) []string {
	var out []string
	details, _ := status["details"].(map[string]any)
	list, _ := details["causes"].([]any)
	for _, c := range list {
		c, _ := c.(map[string]any)
		out = append(out, fmt.Sprint(c["reason"], " ", c["field"]))
	}
	slices.Sort(out)
	return out
}
