package admission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/order"
)

// told is an observer that keeps what it is told.
type told struct {
	mu  sync.Mutex
	log []string
}

func (o *told) Phase(mutates bool, op admission.Operation, rejected bool, took time.Duration) {
	o.Plugin("phase", mutates, op, rejected, took)
}

func (o *told) Plugin(name string, mutates bool, op admission.Operation, rejected bool, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if took < 0 {
		name += " ran backwards"
	}
	o.log = append(o.log, fmt.Sprintf("%s %v %s %v", name, mutates, op, rejected))
}

// acts is a plugin of each sort, which refuses with what it is given.
type acts struct {
	name string
	err  error
}

func (a acts) Name() string { return a.name }

type edits struct{ acts }

func (edits) Edits(o admission.Operation, _ schema.GroupResource, _ string) bool {
	return o == admission.Create
}

func (e edits) Edit(context.Context, admission.Attributes, map[string]any) (bool, error) {
	return false, e.err
}

type mutates struct{ acts }

func (m mutates) Mutate(context.Context, admission.Attributes) error { return m.err }

type validates struct{ acts }

func (v validates) Validate(context.Context, admission.Attributes) error { return v.err }

type asks struct{ acts }

func (a asks) Begin(context.Context, admission.Attributes) func(*admission.Reinvocation) admission.Stage {
	if a.name == order.MutatingAdmissionPolicy { // there is none for it
		return nil
	}
	return func(*admission.Reinvocation) admission.Stage { return a }
}

func (a asks) Admit(context.Context, bool) error { return a.err }

// Whoever is asked is timed, by name and phase; who has nothing to do with it is not, and
// nobody after a refusal.
func TestChainsAreTimed(t *testing.T) {
	refusal := errors.New("no")
	for name, c := range map[string]struct {
		operation        admission.Operation
		refuses          string
		mutating, others string
	}{
		"a creation": {operation: admission.Create,
			mutating: "NamespaceLifecycle MutatingAdmissionWebhook DefaultTolerationSeconds phase", others: "PodSecurity EventRateLimit phase"},
		"an update, which nobody edits": {operation: admission.Update,
			mutating: "NamespaceLifecycle MutatingAdmissionWebhook phase", others: "PodSecurity EventRateLimit phase"},
		"what a webhook refuses": {operation: admission.Create, refuses: order.MutatingAdmissionWebhook,
			mutating: "NamespaceLifecycle MutatingAdmissionWebhook! phase!", others: "PodSecurity EventRateLimit phase"},
		"what an editor refuses": {operation: admission.Create, refuses: order.DefaultTolerationSeconds,
			mutating: "NamespaceLifecycle MutatingAdmissionWebhook DefaultTolerationSeconds! phase!", others: "PodSecurity EventRateLimit phase"},
		"what a mutator refuses": {operation: admission.Create, refuses: order.NamespaceLifecycle,
			mutating: "NamespaceLifecycle! phase!", others: "PodSecurity EventRateLimit phase"},
		"what a validator refuses": {operation: admission.Update, refuses: order.PodSecurity,
			mutating: "NamespaceLifecycle MutatingAdmissionWebhook phase", others: "PodSecurity! phase!"},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(name string) acts {
				if name == c.refuses {
					return acts{name, refusal}
				}
				return acts{name: name}
			}
			chain, err := admission.NewChain(always, mutates{of(order.NamespaceLifecycle)}, asks{of(order.MutatingAdmissionPolicy)}, asks{of(order.MutatingAdmissionWebhook)},
				edits{of(order.DefaultTolerationSeconds)}, validates{of(order.EventRateLimit)}, validates{of(order.PodSecurity)})
			if err != nil {
				t.Fatal(err)
			}
			o := &told{}
			chain.Observe(o)
			a := &admissiontest.Attributes{Operation: c.operation, Objects: &admissiontest.Objects{}}
			for _, m := range chain.Mutators {
				err = errors.Join(err, m.Mutate(t.Context(), a))
			}
			o.want(t, true, c.operation, c.mutating)
			for _, v := range chain.Validators {
				err = errors.Join(err, v.Validate(t.Context(), a))
			}
			o.want(t, false, c.operation, c.others)
			if errors.Is(err, refusal) != (c.refuses != "") {
				t.Error(err)
			}
		})
	}
}

// want compares what was told since it was called last: names, with ! where it refused.
func (o *told) want(t *testing.T, mutates bool, op admission.Operation, names string) {
	t.Helper()
	var want []string
	for _, name := range strings.Fields(names) {
		plain, rejected := strings.CutSuffix(name, "!")
		want = append(want, fmt.Sprintf("%s %v %s %v", plain, mutates, op, rejected))
	}
	if !slices.Equal(o.log, want) {
		t.Errorf("%q, want %q", o.log, want)
	}
	o.log = nil
}
