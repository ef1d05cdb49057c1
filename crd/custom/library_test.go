package custom

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// BenchmarkValidate validates a valid object, by the quick acceptance and by the
// library alone.
func BenchmarkValidate(b *testing.B) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict([]byte(endpointSchema), &v1); err != nil {
		b.Fatal(err)
	}
	var schema apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &schema, nil); err != nil {
		b.Fatal(err)
	}
	q, err := newValidator(&schema)
	if err != nil {
		b.Fatal(err)
	}
	tree := parse(b, endpointObject)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !q.rule.Accepts(tree) {
				b.Fatal("not accepted")
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r := q.SchemaValidator.Validate(tree); !r.IsValid() {
				b.Fatal(r.AsError())
			}
		}
	})
}
