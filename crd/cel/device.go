package cel

import (
	"fmt"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// devices is what expressions that select devices may use: what all may, and the
// device.
var devices = sync.OnceValues(func() (*environment.EnvSet, error) {
	ofDomain := func(value *apiservercel.DeclType) *apiservercel.DeclType {
		return apiservercel.NewMapType(apiservercel.StringType, apiservercel.NewMapType(apiservercel.StringType, value, mostOfDevice), mostOfDevice)
	}
	fields := map[string]*apiservercel.DeclField{}
	for name, t := range map[string]*apiservercel.DeclType{
		"driver":                   apiservercel.StringType,
		"attributes":               ofDomain(apiservercel.AnyType),
		"capacity":                 ofDomain(apiservercel.QuantityDeclType),
		"allowMultipleAllocations": apiservercel.BoolType,
	} {
		fields[name] = apiservercel.NewDeclField(name, t, true, nil, nil)
	}
	device := apiservercel.NewObjectType("kubernetes.DRADevice", fields)
	return Base().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 31),
		EnvOptions:        []celgo.EnvOption{celgo.Variable("device", device.CelType())},
		DeclTypes:         []*apiservercel.DeclType{device},
	})
})

// mostOfDevice bounds the attributes and capacities of a device.
const mostOfDevice = 32

// Device checks an expression that selects devices.
func Device(text string) error {
	set, err := devices()
	if err != nil {
		return err
	}
	invalid := func(detail string) error {
		return &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: detail}
	}
	ast, issues := set.NewExpressionsEnv().Compile(text)
	switch {
	case issues.Err() != nil:
		return invalid("compilation failed: " + issues.String())
	case ast.OutputType() != celgo.BoolType && ast.OutputType() != celgo.AnyType:
		return invalid(fmt.Sprintf("must evaluate to %v or the unknown type, not %v", celgo.BoolType, ast.OutputType()))
	}
	return nil
}
