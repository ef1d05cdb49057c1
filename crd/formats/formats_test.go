package formats

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A format is found by its name; one of texts lets an empty text be, unless its name
// ends with "!".
func TestFormatsAreFound(t *testing.T) {
	for _, c := range []struct {
		name     string
		value    any
		problems int
	}{
		{"dns-label", "a", 0}, {"dns-label", "A", 1}, {"dns-label", "", 0}, {"dns-label", int64(1), 0},
		{"dns-label!", "a", 0}, {"dns-label!", "A", 1}, {"dns-label!", "", 1},
		{"port", int64(80), 0}, {"port", int64(0), 1}, {"any", "", 0},
	} {
		f, err := Of(c.name)
		if err != nil || f == nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		errs := f(c.value, field.NewPath("spec", "x"))
		if len(errs) != c.problems || len(errs) > 0 && errs[0].Field != "spec.x" {
			t.Errorf("%v as %s: %v", c.value, c.name, errs)
		}
	}
	for _, name := range []string{"port!", "none", "none!", "!"} {
		if f, err := Of(name); f != nil || err == nil {
			t.Errorf("%q is a format", name)
		}
	}
	if f, err := Of(""); f != nil || err != nil {
		t.Errorf("no format is one: %v", err)
	}
}
