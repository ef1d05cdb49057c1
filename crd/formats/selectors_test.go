package formats

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Operators of newer clients are let be.
func TestWhatQuestionsSelect(t *testing.T) {
	requires := func(operator string, values ...any) map[string]any {
		return map[string]any{"requirements": []any{map[string]any{"key": "a", "operator": operator, "values": values}}}
	}
	for name, check := range map[string]func(any, *field.Path) field.ErrorList{"fields": selectedFields, "labels": selectedLabels} {
		for _, c := range []struct {
			said map[string]any
			want int
		}{
			{map[string]any{"rawSelector": "a=b"}, 0}, {requires("New"), 0}, {requires("In", "b"), 0}, {requires("In"), 1}, {requires("Exists", "b"), 1},
			{map[string]any{}, 1}, {map[string]any{"rawSelector": int64(1)}, 1},
		} {
			if errs := check(c.said, field.NewPath("s")); len(errs) != c.want {
				t.Errorf("%s: %v: %v", name, c.said, errs)
			}
		}
	}
}
