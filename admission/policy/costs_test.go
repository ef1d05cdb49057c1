package policy

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// costOf is what it costs to evaluate an expression about a Tab of a host, in the
// units of budgets.
func costOf(t *testing.T, e, host string) int64 {
	t.Helper()
	w := newWorld(t)
	w.After["host"] = host
	v := NewValidation(decode[admissionv1.ValidatingAdmissionPolicy](t, "p", tabs+`"validations":[{"expression":`+fmt.Sprintf("%q", e)+`}]`))
	a, err := (&request{Dispatcher: w.dispatcher(), Attributes: w.request()}).see(t.Context(), "v1")
	if err != nil {
		t.Error(err)
		return -1
	}
	got, left, err := v.checks.ForInput(t.Context(), a.attributes, a.review(), admissioncel.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
	if err != nil || got[0].Error != nil {
		t.Errorf("%s: %v, %v", e, err, got)
		return -1
	}
	return celconfig.RuntimeCELCostBudget - left
}

// What an expression costs follows from it and from what it looks at, whoever else
// works: 1 for a comparison and for each name that is looked up, 10 for a list and
// 30 for a map, and for a search a product of both lengths.
func TestCostsOfExpressions_CEL25(t *testing.T) {
	short, long, longer := "h", strings.Repeat("a", 999), strings.Repeat("a", 1999)
	var all sync.WaitGroup
	for _, c := range []struct {
		e, host string
		want    int64
	}{
		{`object.n == 1`, short, 2 + 1},
		{`object.n == 1 && object.n == 1`, short, 2 * (2 + 1)},
		{`object.n == 1 || object.n == 2`, short, 2 + 1}, // the rest is not evaluated
		{`[object.n].size() == 1`, short, 10 + 2 + 1 + 1},
		{`[object.n, object.n].size() == 2`, short, 10 + 2*2 + 1 + 1},
		{`{'a': object.n}.size() == 1`, short, 30 + 2 + 1 + 1},
		{`object.host.matches('aaaa')`, long, 2 + 100*1},
		{`object.host.matches('aaaa')`, longer, 2 + 200*1},
		{`object.host.matches('aaaaaaaa')`, long, 2 + 100*2},
		{`object.host.matches('aaaaaaaa')`, longer, 2 + 200*2},
	} {
		for range 4 {
			all.Go(func() {
				for range 5 {
					if got := costOf(t, c.e, c.host); got != c.want {
						t.Errorf("%s costs %d for %d bytes, want %d", c.e, got, len(c.host), c.want)
					}
				}
			})
		}
	}
	all.Wait()
}
