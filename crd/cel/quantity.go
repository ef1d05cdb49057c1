package cel

import (
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/wasmgate/wasmgate/crd/quantity"
)

// boundedQuantities take the place of the library's functions that read
// quantities, which need hours for some texts, and nothing can end them.
var boundedQuantities = environment.VersionedOptions{
	IntroducedVersion: version.MajorMinor(1, 0),
	EnvOptions: []celgo.EnvOption{
		celgo.Function("quantity", celgo.Overload("string_to_quantity", []*celgo.Type{celgo.StringType}, apiservercel.QuantityType,
			celgo.UnaryBinding(func(text ref.Val) ref.Val {
				q, err := readQuantity(text)
				if err != nil {
					return types.WrapErr(err)
				}
				return apiservercel.Quantity{Quantity: &q}
			}))),
		celgo.Function("isQuantity", celgo.Overload("is_quantity_string", []*celgo.Type{celgo.StringType}, celgo.BoolType,
			celgo.UnaryBinding(func(text ref.Val) ref.Val {
				_, err := readQuantity(text)
				return types.Bool(err == nil)
			}))),
	},
}

func readQuantity(text ref.Val) (resource.Quantity, error) {
	s, _ := text.Value().(string)
	if err := quantity.Check(s); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(s)
}
