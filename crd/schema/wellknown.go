package schema

import (
	"encoding/json"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func anything() *apiextensionsv1.JSONSchemaProps {
	return &apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: ptr(true)}
}

func anyObject() *apiextensionsv1.JSONSchemaProps {
	s := anything()
	s.Type = "object"
	return s
}

// extension is an object of any kind, which has one owner.
func extension() *apiextensionsv1.JSONSchemaProps {
	s := anyObject()
	s.XMapType = ptr("atomic")
	return s
}

func intOrString() *apiextensionsv1.JSONSchemaProps {
	return &apiextensionsv1.JSONSchemaProps{XIntOrString: true}
}

func text(format string) func() *apiextensionsv1.JSONSchemaProps {
	return func() *apiextensionsv1.JSONSchemaProps {
		return &apiextensionsv1.JSONSchemaProps{Type: "string", Format: format}
	}
}

// byType are the types whose JSON is not what their Go structure says.
var byType = map[reflect.Type]func() *apiextensionsv1.JSONSchemaProps{
	reflect.TypeFor[metav1.Time]():                                  text("date-time"),
	reflect.TypeFor[metav1.MicroTime]():                             text("date-time"),
	reflect.TypeFor[metav1.Duration]():                              text(""),
	reflect.TypeFor[intstr.IntOrString]():                           intOrString,
	reflect.TypeFor[resource.Quantity]():                            intOrString,
	reflect.TypeFor[runtime.RawExtension]():                         extension,
	reflect.TypeFor[metav1.FieldsV1]():                              anyObject,
	reflect.TypeFor[json.RawMessage]():                              anything,
	reflect.TypeFor[apiextensionsv1.JSON]():                         anything,
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       anything,
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        anything,
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): anything,
}

// wellKnown returns the schema of a type that is not described by its
// structure, or nil.
func wellKnown(t reflect.Type) *apiextensionsv1.JSONSchemaProps {
	if f := byType[t]; f != nil {
		return f()
	}
	return nil
}

// Leaf tells that the JSON of values of type t is not what their Go structure
// says, so that nobody should look into it: times, quantities, raw JSON.
func Leaf(t reflect.Type) bool { return byType[indirect(t)] != nil }
