// Package lossless owns the condition Lossless of WasmModules: whether what a module
// converts comes back as it was, for each definition that it converts for; and the
// refusal of definitions of which it would not.
//
// It loads the revision that serves once more, under a name of its own, so that
// nothing that serves waits for a proof or counts its calls. It must not know how
// objects are made and compared (conversion/proof), nor the Wasm runtime.
package lossless

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// The reasons of the condition.
const (
	reasonLossless = "NothingLost"
	reasonLossy    = "FieldsLost"
	reasonUnknown  = "NotProved"
)

// Objects are modules and definitions as the controller uses them.
type Objects interface {
	client.Getter
	client.Lister
	client.Updater
}

// Controller proves what modules ask for, one at a time. It runs in one gateway.
type Controller struct {
	objects Objects
	digest  func([]byte) string
	bench

	mu    sync.Mutex
	bound map[string]string   // guarded by mu: the module of a definition
	known map[string]outcomes // guarded by mu: what was proved, by module
}

// outcomes are those of one revision of a module, by the definition and its state.
type outcomes struct {
	revision string
	of       map[string]proof.Report
}

// New returns the controller.
func New(objects Objects, modules Runtime, content Content, proofs Proofs) *Controller {
	return &Controller{objects: objects, digest: content.Digest, bench: bench{modules, content, proofs}, bound: map[string]string{}, known: map[string]outcomes{}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "module-proofs" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Modules, gvr.Definitions}
}

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	obj, err := c.objects.Get(ctx, key.GroupResource, "", key.Name)
	if key.GroupResource == gvr.Definitions {
		now := ""
		if err == nil {
			now = module.NeedOf(obj).Module
		}
		c.rebound(q, key.Name, now)
		return gvr.IgnoreNotFound(err)
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.known, key.Name)
		return gvr.IgnoreNotFound(err)
	}
	condition, err := c.look(ctx, obj)
	if err != nil {
		return gvr.IgnoreNotFound(err)
	}
	return gvr.IgnoreNotFound(c.report(ctx, key.Name, condition))
}

// rebound has the modules looked at for which a definition's change is news.
func (c *Controller) rebound(q controller.Queue, definition, now string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range []string{c.bound[definition], now} {
		if name != "" {
			q.Add(controller.Key{GroupResource: gvr.Modules, Name: name})
		}
	}
	if c.bound[definition] = now; now == "" {
		delete(c.bound, definition)
	}
}

// look is the condition that a module is to have, nil for none.
func (c *Controller) look(ctx context.Context, obj *unstructured.Unstructured) (*metav1.Condition, error) {
	asked, acknowledged := module.ProofAsked(obj)
	rev, unusable := module.Wanted(obj, c.digest)
	if asked == module.NoProof || unusable != nil || module.StatusOf(obj).Digest != rev.Digest {
		return nil, nil // or another one serves still
	}
	definitions, err := c.definitions(ctx, obj.GetName())
	if err != nil || len(definitions) == 0 {
		return nil, err
	}
	known := c.knownOf(obj.GetName(), fmt.Sprintf("%s %q", module.Identity(*rev), acknowledged))
	var left []*unstructured.Unstructured
	present := map[string]bool{}
	for _, d := range definitions {
		present[State(d)] = true
		if _, ok := known[State(d)]; !ok {
			left = append(left, d)
		}
	}
	maps.DeleteFunc(known, func(state string, _ proof.Report) bool { return !present[state] })
	if len(left) > 0 {
		// No module can have that name.
		err := c.prove(ctx, work{obj.GetName() + "@proof", *rev, acknowledged}, left, func(d *unstructured.Unstructured, r proof.Report) { known[State(d)] = r })
		if err != nil {
			return nil, err
		}
	}
	return ConditionOf(definitions, known, obj.GetGeneration()), nil
}

// definitions are those that convert with a module.
func (c *Controller) definitions(ctx context.Context, name string) (bound []*unstructured.Unstructured, err error) {
	all, err := c.objects.List(ctx, gvr.Definitions, "")
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if module.NeedOf(d).Module == name && len(module.Needs(d.Object)) > 0 {
			bound = append(bound, d)
		}
	}
	slices.SortFunc(bound, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return bound, nil
}

// State names a definition as it is now.
func State(d *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s %d", d.GetName(), d.GetUID(), d.GetGeneration())
}

// knownOf is what is known of a revision. Only one goroutine uses it.
func (c *Controller) knownOf(name, revision string) map[string]proof.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[name].revision != revision {
		c.known[name] = outcomes{revision, map[string]proof.Report{}}
	}
	return c.known[name].of
}

// ConditionOf tells what is known of definitions, by their [State].
func ConditionOf(definitions []*unstructured.Unstructured, known map[string]proof.Report, generation int64) *metav1.Condition {
	out := &metav1.Condition{Type: module.Lossless, ObservedGeneration: generation, Status: metav1.ConditionTrue, Reason: reasonLossless}
	var lost, not, fine []string
	for _, d := range definitions {
		report, at := known[State(d)], "customresourcedefinitions/"+d.GetName()
		switch report.Verdict {
		case proof.Lossy:
			lost = append(lost, at+": "+Told(report))
		case proof.Lossless:
			fine = append(fine, fmt.Sprintf("%s: %d objects came back as they were", at, report.Tried))
		default:
			not = append(not, at+": "+report.Why)
		}
	}
	switch {
	case len(lost) > 0:
		out.Status, out.Reason = metav1.ConditionFalse, reasonLossy
	case len(not) > 0:
		out.Status, out.Reason = metav1.ConditionUnknown, reasonUnknown
	}
	out.Message = gvr.Shorten(strings.Join(slices.Concat(lost, not, fine), "\n"))
	return out
}

// Told is a loss in words: the first field with an example, and the others by name.
func Told(r proof.Report) string {
	first := r.Losses[0]
	text := fmt.Sprintf("%s of %s, %s to %s and back", first.Problem, first.Field, first.From, first.To)
	if first.Message != "" {
		text += " (" + first.Message + ")"
	} else if first.Problem == proof.Lost {
		text += fmt.Sprintf(" (%s becomes %s)", orNothing(first.Had), orNothing(first.Got))
	}
	var others []string
	for _, l := range r.Losses[1:] {
		if l.Field != first.Field && !slices.Contains(others, l.Field) {
			others = append(others, l.Field)
		}
	}
	if len(others) > 0 {
		text += "; also " + strings.Join(others, ", ")
	}
	return text + "; for example\n" + first.Example
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

// report writes the condition, if it is another.
func (c *Controller) report(ctx context.Context, name string, condition *metav1.Condition) error {
	obj, err := c.objects.Get(ctx, gvr.Modules, "", name) // a proof takes a while
	if err != nil {
		return err
	}
	changed, err := gvr.ChangeConditions(obj, func(all []metav1.Condition) []metav1.Condition {
		if condition == nil {
			meta.RemoveStatusCondition(&all, module.Lossless)
		} else {
			meta.SetStatusCondition(&all, *condition)
		}
		return all
	})
	if err != nil || !changed {
		return err
	}
	_, err = c.objects.Update(ctx, gvr.Modules, "status", obj)
	return err
}
