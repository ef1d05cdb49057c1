package definition

import (
	"reflect"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/schema"
)

// Definition is the definition of CustomResourceDefinitions themselves.
func Definition() *crd.Definition {
	main, status := newStrategy(), newStatusStrategy()
	return &crd.Definition{
		Group:      apiextensionsv1.GroupName,
		Plural:     "customresourcedefinitions",
		Singular:   "customresourcedefinition",
		Kind:       Kind,
		ListKind:   Kind + "List",
		ShortNames: []string{"crd", "crds"},
		Categories: []string{"api-extensions"},
		Versions: []*crd.Version{{
			Name:     "v1",
			Served:   true,
			Shape:    shape{},
			Strategy: main,
			Subresources: map[string]*crd.Subresource{"status": {
				Name:   "status",
				Update: status,
				Verbs:  []string{"get", "patch", "update"},
			}},
			Schema: sync.OnceValue(func() *apiextensionsv1.JSONSchemaProps {
				return schema.For(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]())
			}),
			Recursive: sync.OnceValue(func() *apiextensionsv1.JSONSchemaProps {
				return schema.Recursive(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]())
			}),
			Table: rest.NewDefaultTableConvertor(apiextensionsv1.Resource("customresourcedefinitions")),
			Typed: func() runtime.Object { return &apiextensionsv1.CustomResourceDefinition{} },
		}},
		StorageVersion: "v1",

		ConditionalUpdate: true,
		KeyPrefix:         apiextensionsv1.GroupName + "/customresourcedefinitions",
		Codec:             codec{},
		Hooks:             hooks{},
	}
}

// shape reads objects through the API's own type.
type shape struct{}

func (shape) FromClient(obj map[string]any, strict bool) ([]string, error) {
	var c *apiextensionsv1.CustomResourceDefinition
	var unknown []string
	var err error
	if strict {
		c, unknown, err = fromTreeStrict(obj)
	} else {
		c, err = FromTree(obj)
	}
	if err != nil {
		return nil, err
	}
	scheme.Default(c)
	tree, err := toTree(c)
	if err != nil {
		return nil, err
	}
	replace(obj, tree)
	return unknown, nil
}

// FromStorage has nothing to do: the codec went through the type already.
func (shape) FromStorage(map[string]any) error { return nil }

// Canonical leaves it to the codec, which is what changes objects.
func (shape) Canonical(map[string]any) bool { return false }

// FromMerge implements [crd.Shape].
func (s shape) FromMerge(obj map[string]any) error {
	object.WholeIntegers(obj)
	_, err := s.FromClient(obj, false)
	return err
}

// FromConversion has nothing to do: there is one version.
func (shape) FromConversion(map[string]any) error { return nil }
