package dyn

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/wasmgate/wasmgate/crd/quantity"
)

// Quantities take the place of the library's functions that read quantities, which need
// hours for some texts, and nothing can end them. They come after those of the library.
func Quantities() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("quantity", cel.Overload("string_to_quantity", []*cel.Type{cel.StringType}, apiservercel.QuantityType,
			cel.UnaryBinding(func(text ref.Val) ref.Val {
				s, _ := text.Value().(string)
				q, err := readQuantity(s)
				if err != nil {
					return types.WrapErr(err)
				}
				return apiservercel.Quantity{Quantity: &q}
			}))),
		cel.Function("isQuantity", cel.Overload("is_quantity_string", []*cel.Type{cel.StringType}, cel.BoolType,
			cel.UnaryBinding(func(text ref.Val) ref.Val {
				s, _ := text.Value().(string)
				_, err := readQuantity(s)
				return types.Bool(err == nil)
			}))),
	}
}

func readQuantity(text string) (resource.Quantity, error) {
	if err := quantity.Check(text); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}
