package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
)

// Values of annotations are texts, each told once and cut to what fits; what is none, or
// came to an error, is left out.
func TestValuesOfAnnotations(t *testing.T) {
	long := strings.Repeat("x", maxAnnotation+1)
	results := func(values ...ref.Val) (all []admissioncel.EvaluationResult) {
		for _, v := range values {
			all = append(all, admissioncel.EvaluationResult{EvalResult: v})
		}
		return all
	}
	var a audited
	keys := []string{"k", "l"}
	a.note(keys, results(types.String(" one "), types.Int(1)))
	a.note(keys, results(types.String("one"), types.NullValue))
	a.note(keys, results(types.String("two"), types.String("  ")))
	a.note(keys, results(types.String(long), nil, types.String("more than keys")))
	failed := results(types.String("not this"), types.String("nor this"))
	failed[0].Error, failed[1].Error = errors.New("no"), errors.New("no")
	a.note(keys, failed)
	if want := []string{"one", "two", long[:maxAnnotation]}; !slices.Equal(a.values["k"], want) || len(a.values) != 1 {
		t.Errorf("%s", fmt.Sprint(a.values))
	}
}
