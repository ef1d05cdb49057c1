package admission_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
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

// hook is somebody who is asked in a stage.
type hook struct {
	name string
	// again: it wants to be asked again. changes: it changes the object whenever it is
	// asked. demands: it has all who wait asked again when it is asked first.
	again, changes, demands bool
}

// stage asks its hooks in their order, and notes which.
type stage struct {
	admission.Again[string]
	r     *admission.Reinvocation
	hooks []hook
	said  *[]string
	fails error
}

func (s *stage) Admit(ctx context.Context, again bool) error {
	s.Begin(s.r, again)
	defer s.End(s.r)
	for _, h := range s.hooks {
		if !s.Asks(h.name) {
			continue
		}
		*s.said = append(*s.said, h.name)
		if h.changes {
			if err := s.r.Replace(ctx, "v1", map[string]any{"by": h.name}); err != nil {
				return err
			}
		}
		if h.demands && !again {
			s.Demand(s.r)
		}
		s.Asked(h.name, h.again, h.changes)
	}
	return s.fails
}

// Who wants it is asked once more after somebody changed the object, in the same stage or
// in a later one; nobody is asked a third time, and nobody again when nothing changed.
func TestWhoIsAskedAgain(t *testing.T) {
	quiet, changes := hook{name: "quiet"}, hook{name: "changes", changes: true}
	wants, both := hook{name: "wants", again: true}, hook{name: "both", again: true, changes: true}
	for name, c := range map[string]struct {
		policies, webhooks []hook
		asked              string
	}{
		"nothing changes":                        {[]hook{wants, quiet}, []hook{wants}, "wants quiet wants"},
		"a later one changes":                    {[]hook{wants, quiet, changes}, nil, "wants quiet changes wants"},
		"an earlier one changes":                 {[]hook{changes, wants}, nil, "changes wants"},
		"it changes itself":                      {[]hook{both}, nil, "both"},
		"a later stage changes":                  {[]hook{wants, quiet}, []hook{changes}, "wants quiet changes wants"},
		"an earlier stage changes":               {[]hook{changes}, []hook{wants}, "changes wants"},
		"two change after each other":            {[]hook{both}, []hook{{name: "other", again: true, changes: true}}, "both other both other"},
		"it is demanded, though nothing changes": {[]hook{wants, {name: "demands", demands: true}}, nil, "wants demands wants"},
	} {
		var said []string
		r := admission.NewReinvocation(&admissiontest.Attributes{Objects: &admissiontest.Objects{}})
		err := admission.Mutate(t.Context(), r, &stage{r: r, hooks: c.policies, said: &said}, &stage{r: r, hooks: c.webhooks, said: &said})
		if got := strings.Join(said, " "); err != nil || got != c.asked {
			t.Errorf("%s: asked %s, want %s, %v", name, got, c.asked, err)
		}
	}
}

// A stage that refuses ends the request: no other is asked.
func TestARefusalEndsAllStages(t *testing.T) {
	var said []string
	refused := errors.New("no")
	r := admission.NewReinvocation(&admissiontest.Attributes{Objects: &admissiontest.Objects{}})
	err := admission.Mutate(t.Context(), r, &stage{r: r, said: &said, fails: refused}, &stage{r: r, said: &said, hooks: []hook{{name: "later"}}})
	if !errors.Is(err, refused) || len(said) > 0 {
		t.Errorf("%v, asked %q", err, said)
	}
}
