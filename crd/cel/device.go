package cel

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	devices "k8s.io/dynamic-resource-allocation/cel"
)

// Device checks an expression that selects devices, at a path: the scheduler, which
// evaluates it, has the same library, and gives up where it costs more.
func Device(at *field.Path, text string) *field.Error {
	// As Kubernetes 1.36 has these features, unless it is told otherwise.
	compiler, env := devices.GetCompiler(devices.Features{EnableConsumableCapacity: true}), environment.NewExpressions
	switch r := compiler.CompileCELExpression(text, devices.Options{EnvType: &env}); {
	case r.Error != nil:
		return Invalid(at, text, r.Error)
	case r.MaxCost > resourcev1.CELSelectorExpressionMaxCost:
		return field.Forbidden(at, "too complex, exceeds cost limit")
	}
	return nil
}
