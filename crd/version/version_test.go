package version

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// golden is the order that the documentation of Kubernetes prints.
var golden = []string{
	"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10",
}

func TestSort_CRD08(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		got := slices.Clone(golden)
		r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, Compare)
		if !slices.Equal(got, golden) {
			t.Fatalf("got %v, want %v", got, golden)
		}
	}
}

func TestCompare_CRD08(t *testing.T) {
	for i, a := range golden {
		for j, b := range golden {
			got := Compare(a, b)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("Compare(%q, %q) = %d", a, b, got)
			}
		}
	}
}

func TestCompare_oddNames(t *testing.T) {
	for _, c := range []struct{ before, after string }{
		{"v1", "v1beta99999999999999999999"},
		{"v1", "v99999999999999999999"},
		{"v1alpha1", "v01x"},
		{"", "a"},
	} {
		if Compare(c.before, c.after) >= 0 || Compare(c.after, c.before) <= 0 {
			t.Errorf("%q is not before %q", c.before, c.after)
		}
	}
}
