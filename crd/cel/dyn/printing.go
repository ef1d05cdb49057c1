package dyn

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// printing are functions that only columns need, in which kube-apiserver's
// tables have a form of their own.
type printing struct{}

// CompileOptions implements [cel.Library].
func (printing) CompileOptions() []cel.EnvOption {
	return []cel.EnvOption{
		unary("age", age),
		unary("labelSelector", labelSelector),
		unary("labels", labelsOf),
		unary("durationText", durationText),
		unary("quantityText", quantityText),
		cel.Function("merge", cel.Overload("merge_dyn_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.DynType,
			cel.BinaryBinding(merge))),
		cel.Function("someOf", cel.Overload("someOf_dyn_int", []*cel.Type{cel.DynType, cel.IntType}, cel.StringType,
			cel.BinaryBinding(someOf))),
		cel.Function("elapsed", cel.Overload("elapsed_dyn_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.StringType,
			cel.BinaryBinding(elapsed))),
	}
}

// ProgramOptions implements [cel.Library].
func (printing) ProgramOptions() []cel.ProgramOption { return nil }

func unary(name string, f func(ref.Val) ref.Val) cel.EnvOption {
	return cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{cel.DynType}, cel.StringType, cel.UnaryBinding(f)))
}

// age prints how long ago a time was, as "5d3h".
func age(v ref.Val) ref.Val {
	t, ok := timeOf(v)
	if !ok {
		return types.String(Unknown)
	}
	return types.String(Age(t))
}

// Unknown is printed for a time that is not known.
const Unknown = "<unknown>"

// Age prints how long ago t was, as tables do.
func Age(t time.Time) string {
	if t.IsZero() {
		return Unknown
	}
	return duration.HumanDuration(time.Since(t))
}

// elapsed prints the time between two times, of which the second may be
// missing, which is now.
func elapsed(from, to ref.Val) ref.Val {
	start, ok := timeOf(from)
	if !ok {
		return types.String("")
	}
	end, ok := timeOf(to)
	if !ok {
		end = time.Now()
	}
	return types.String(duration.HumanDuration(end.Sub(start)))
}

func timeOf(v ref.Val) (time.Time, bool) {
	text, ok := v.(types.String)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, string(text))
	return t, err == nil && !t.IsZero()
}

// labelsOf prints labels.
func labelsOf(v ref.Val) ref.Val {
	tree, err := native(v)
	if err != nil {
		return types.WrapErr(err)
	}
	m, _ := tree.(map[string]any)
	set := labels.Set{}
	for k, x := range m {
		set[k] = fmt.Sprint(x)
	}
	return types.String(labels.FormatLabels(set))
}

// durationText prints a number of seconds.
func durationText(v ref.Val) ref.Val {
	n, ok := v.(types.Int)
	if !ok {
		return types.String("")
	}
	return types.String(duration.HumanDuration(time.Duration(n) * time.Second))
}

// quantityText prints a quantity in its canonical form, one that is missing as
// zero.
func quantityText(v ref.Val) ref.Val {
	tree, err := native(v)
	if err != nil {
		return types.WrapErr(err)
	}
	if tree == nil {
		tree = "0"
	}
	q, err := readQuantity(fmt.Sprint(tree))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.String(q.String())
}

// merge is a map with the entries of two, of which the second counts.
func merge(a, b ref.Val) ref.Val {
	out := map[string]any{}
	for _, v := range []ref.Val{a, b} {
		tree, err := native(v)
		if err != nil {
			return types.WrapErr(err)
		}
		m, _ := tree.(map[string]any)
		maps.Copy(out, m)
	}
	return types.DefaultTypeAdapter.NativeToValue(out)
}

// someOf prints the first few of a list of texts, and how many more there are.
func someOf(v, most ref.Val) ref.Val {
	tree, err := native(v)
	if err != nil {
		return types.WrapErr(err)
	}
	list, _ := tree.([]any)
	n, _ := most.(types.Int)
	texts := make([]string, 0, len(list))
	for _, x := range list {
		texts = append(texts, fmt.Sprint(x))
	}
	if n < 0 || len(texts) <= int(n) {
		return types.String(strings.Join(texts, ","))
	}
	return types.String(fmt.Sprintf("%s + %d more...", strings.Join(texts[:n], ","), len(texts)-int(n)))
}

// labelSelector prints a selector: one of apps and the like, with matchLabels
// and matchExpressions.
func labelSelector(v ref.Val) ref.Val {
	if v == types.NullValue {
		return types.String("<none>")
	}
	tree, err := native(v)
	if err != nil {
		return types.WrapErr(err)
	}
	m, _ := tree.(map[string]any)
	var s metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, &s); err != nil {
		return types.WrapErr(err)
	}
	return types.String(metav1.FormatLabelSelector(&s))
}
