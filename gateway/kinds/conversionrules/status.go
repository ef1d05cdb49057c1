package conversionrules

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
)

// The condition that tells whether rules convert, and its reasons.
const (
	ready          = "Ready"
	reasonCompiled = "Compiled"
	reasonInvalid  = "Invalid"
)

// objects are rules and definitions as the controller uses them.
type objects interface {
	client.Getter
	client.Lister
	client.Updater
}

// status is the controller that tells of rules whether they compile, and what they
// lose of the objects of each definition. It runs in one gateway.
type status struct {
	objects objects
	prover  func(*rules.Rules) lossless.Proofs
	bound   controller.Links // the rules of a definition

	mu     sync.Mutex
	proved map[string]proofs // guarded by mu: by rules
}

// proofs are those of one state of rules, by the state of a definition.
type proofs struct {
	of    string
	known map[string]proof.Report
}

func newController(o objects) *status {
	return &status{objects: o, prover: func(r *rules.Rules) lossless.Proofs { return proverOf(r) }, proved: map[string]proofs{}}
}

// Name implements [controller.Controller].
func (*status) Name() string { return "conversion-rules" }

// Watches implements [controller.Controller].
func (*status) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Rules, gvr.Definitions}
}

// Reconcile implements [controller.Controller].
func (c *status) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	obj, err := c.objects.Get(ctx, key.GroupResource, "", key.Name)
	if key.GroupResource == gvr.Definitions {
		now := ""
		if err == nil {
			now = rulesOf(obj)
		}
		c.bound.Set(q, key.Name, gvr.Rules, now)
		return gvr.IgnoreNotFound(err)
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.proved, key.Name)
		return gvr.IgnoreNotFound(err)
	}
	condition := metav1.Condition{Type: ready, ObservedGeneration: obj.GetGeneration(), Status: metav1.ConditionTrue, Reason: reasonCompiled, Message: "the rules convert"}
	spec, err := read(obj)
	var compiled *rules.Rules
	if err == nil {
		r, doubts, errs := rules.CompileStored(spec)
		compiled, err = r, excerpt.Errors(errs)
		if doubted := excerpt.Errors(doubts); doubted != nil {
			condition.Message = gvr.Shorten("the rules convert, but would be refused if they were written now: " + doubted.Error())
		}
	}
	if err != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, reasonInvalid, gvr.Shorten(err.Error())
	}
	// What is known at once is told at once.
	if err := c.report(ctx, obj, func(all *[]metav1.Condition) { meta.SetStatusCondition(all, condition) }); err != nil {
		return gvr.IgnoreNotFound(err)
	}
	var lost *metav1.Condition
	if compiled != nil {
		if lost, err = c.prove(ctx, obj, compiled); err != nil {
			return err
		}
	}
	return gvr.IgnoreNotFound(c.report(ctx, obj, func(all *[]metav1.Condition) {
		if lost == nil {
			meta.RemoveStatusCondition(all, module.Lossless)
		} else {
			meta.SetStatusCondition(all, *lost)
		}
	}))
}

// prove looks for what rules lose of the objects of definitions, once for each state of
// both; the condition is nil while there are no definitions.
func (c *status) prove(ctx context.Context, obj *unstructured.Unstructured, r *rules.Rules) (*metav1.Condition, error) {
	all, err := bound(ctx, c.objects, obj.GetName())
	if err != nil || len(all) == 0 {
		return nil, err
	}
	known := c.known(obj.GetName(), fmt.Sprint(obj.GetUID(), obj.GetGeneration()))
	present := map[string]bool{}
	prover := c.prover(r)
	for _, d := range all {
		present[lossless.State(d)] = true
		if _, ok := known[lossless.State(d)]; ok {
			continue
		}
		report, err := prover.Prove(ctx, obj.GetName(), d, r.Acknowledged(), nil)
		if err != nil {
			report = proof.Report{Verdict: proof.Unknown, Why: err.Error()}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		known[lossless.State(d)] = report
	}
	maps.DeleteFunc(known, func(state string, _ proof.Report) bool { return !present[state] })
	return lossless.ConditionOf(all, func(d *unstructured.Unstructured) module.Proved { return lossless.Outcome(known[lossless.State(d)]) }, obj.GetGeneration()), nil
}

// known is what is known of a state of rules. Only one goroutine uses it.
func (c *status) known(name, of string) map[string]proof.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proved[name].of != of {
		c.proved[name] = proofs{of, map[string]proof.Report{}}
	}
	return c.proved[name].known
}

// report changes conditions, if they are to be others. Of rules that were made again in
// the place of those that were looked at nothing is known.
func (c *status) report(ctx context.Context, seen *unstructured.Unstructured, change func(*[]metav1.Condition)) error {
	obj, err := c.objects.Get(ctx, gvr.Rules, "", seen.GetName()) // a proof takes a while
	if err != nil || obj.GetUID() != seen.GetUID() {
		return err
	}
	changed, err := gvr.ChangeConditions(obj, func(all []metav1.Condition) []metav1.Condition {
		change(&all)
		return all
	})
	if err != nil || !changed {
		return err
	}
	_, err = c.objects.Update(ctx, gvr.Rules, "status", obj)
	return err
}
