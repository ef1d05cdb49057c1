package apply

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/apply/tree"
)

// scaleType is the type of autoscaling/v1 Scales.
var scaleType = sync.OnceValues(func() (*tree.Type, error) {
	type props = apiextensionsv1.JSONSchemaProps
	object := func(fields map[string]props) props { return props{Type: "object", Properties: fields} }
	number := props{Type: "integer", Format: "int32"}
	whole := object(map[string]props{
		"spec":   object(map[string]props{"replicas": number}),
		"status": object(map[string]props{"replicas": number, "selector": {Type: "string"}}),
	})
	return tree.Object(&whole, true, false)
})

// CheckScale refuses an autoscaling/v1 Scale to apply that has what no Scale
// has, as [Kind.Apply] refuses other configurations.
func CheckScale(scale map[string]any) error {
	t, err := scaleType()
	if err == nil {
		err = t.Validate(scale, false)
	}
	if err != nil {
		return failure(fmt.Errorf("failed to create typed patch object (%s; autoscaling/v1, Kind=Scale): %w", named(scale), err))
	}
	return nil
}
