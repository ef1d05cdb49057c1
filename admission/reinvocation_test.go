package admission_test

import (
	"testing"

	"github.com/wasmgate/wasmgate/admission"
)

// renamed is a request whose object somebody renames.
type renamed struct {
	admission.Attributes
	name, namespace string
}

func (r *renamed) GetName() string      { return r.name }
func (r *renamed) GetNamespace() string { return r.namespace }

// Who is asked after a change of the name is told what the request was for, as
// kube-apiserver tells it.
func TestReinvocation_IsOfTheNameThatWasAskedFor(t *testing.T) {
	a := &renamed{}
	r := admission.NewReinvocation(a)
	a.name, a.namespace = "fixed", "fixed"
	if r.GetName() != "" || r.GetNamespace() != "" {
		t.Errorf("%q in %q", r.GetName(), r.GetNamespace())
	}
}
