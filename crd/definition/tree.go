package definition

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Kind is the kind of the objects.
const Kind = "CustomResourceDefinition"

// FromTree reads a tree at v1. Fields of a wrong type are an error in the words
// of the JSON library; unknown fields are ignored. It sets no defaults and
// shares no memory with tree.
func FromTree(tree map[string]any) (*apiextensionsv1.CustomResourceDefinition, error) {
	b, err := object.EncodeTyped(tree)
	if err != nil {
		return nil, err
	}
	c := &apiextensionsv1.CustomResourceDefinition{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, c); err != nil {
		return nil, err
	}
	return c, nil
}

// fromTreeStrict is FromTree that also returns what it ignored, as Kubernetes
// words it.
func fromTreeStrict(tree map[string]any) (c *apiextensionsv1.CustomResourceDefinition, unknown []string, err error) {
	c = &apiextensionsv1.CustomResourceDefinition{}
	if unknown, err = object.DecodeTyped(tree, c); err != nil {
		return nil, nil, err
	}
	return c, unknown, nil
}

// toTree writes c as a tree at v1. It fails when c holds raw JSON (a default, an
// example, an enum value) that is not JSON.
func toTree(c *apiextensionsv1.CustomResourceDefinition) (map[string]any, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("custom resource definition %s: %w", c.Name, err)
	}
	tree, _, err := object.ParseObject(b)
	if err != nil {
		return nil, fmt.Errorf("custom resource definition %s: %w", c.Name, err)
	}
	tree["apiVersion"] = apiextensionsv1.SchemeGroupVersion.String()
	tree["kind"] = Kind
	return tree, nil
}

// internal is the hub version of a tree at v1.
func internal(tree map[string]any) (*apiextensions.CustomResourceDefinition, error) {
	c, err := FromTree(tree)
	if err != nil {
		return nil, err
	}
	out := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(c, out, nil); err != nil {
		return nil, err
	}
	return out, nil
}

// fromInternal is the tree at v1 of the hub version.
func fromInternal(in *apiextensions.CustomResourceDefinition) (map[string]any, error) {
	c := &apiextensionsv1.CustomResourceDefinition{}
	if err := scheme.Convert(in, c, nil); err != nil {
		return nil, err
	}
	return toTree(c)
}

// replace makes dst hold what src holds; whoever holds dst sees it.
func replace(dst, src map[string]any) {
	clear(dst)
	for k, v := range src {
		dst[k] = v
	}
}
