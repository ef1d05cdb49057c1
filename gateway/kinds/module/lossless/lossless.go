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
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

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

	bound controller.Links // the module of a definition

	mu    sync.Mutex
	known map[string][]module.Proved // guarded by mu: what was proved, by module, until the status has it
}

// New returns the controller.
func New(objects Objects, modules Runtime, content Content, proofs Proofs) *Controller {
	return &Controller{objects: objects, digest: content.Digest, bench: bench{modules, content, proofs}, known: map[string][]module.Proved{}}
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
		c.bound.Set(q, key.Name, gvr.Modules, now)
		return gvr.IgnoreNotFound(err)
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.known, key.Name)
		return gvr.IgnoreNotFound(err)
	}
	found, err := c.look(ctx, obj)
	if found == nil {
		return err
	}
	if found.again > 0 {
		q.AddAfter(key, found.again)
	}
	if reportErr := c.report(ctx, obj, found); reportErr != nil {
		return gvr.IgnoreNotFound(reportErr)
	}
	return gvr.IgnoreNotFound(err)
}

// found is what is known of a module.
type found struct {
	condition *metav1.Condition // nil for none
	unsaid    bool              // what is known of what serves stays as it was said
	proofs    []module.Proved
	again     time.Duration // after which to look again, 0 for not
}

// bound is a definition that a module converts for, with what a proof depends on.
type bound struct {
	*unstructured.Unstructured
	inputs string
}

// look proves what is not known of the revision that serves and, where it waits for that
// or for a promotion, of the one that is to follow it. An error beside what was found is about the
// latter.
func (c *Controller) look(ctx context.Context, obj *unstructured.Unstructured) (*found, error) {
	out := &found{}
	asked, acknowledged := module.ProofAsked(obj)
	if asked == module.NoProof {
		return out, nil
	}
	all, err := c.objects.List(ctx, gvr.Definitions, "")
	if err != nil {
		return nil, err
	}
	definitions := module.Converting(all, obj.GetName())
	var proved []bound
	for _, d := range definitions[:min(len(definitions), module.MaxProved)] {
		proved = append(proved, bound{d, module.ProofInputs(obj, d)})
	}
	if len(proved) == 0 {
		return out, nil
	}
	serving, serves := module.Serving(obj, c.digest)
	if serves {
		if err := c.prove(ctx, obj, work{besideOf(obj), serving, acknowledged}, proved, out); err != nil {
			return nil, err
		}
		out.condition = ConditionOf(definitions, out.by(proved), obj.GetGeneration())
	} else if said := module.StatusOf(obj); said.Digest != "" {
		out.unsaid = true
		for _, d := range proved {
			if p, ok := module.ProvedOf(c.knownOf(obj), said.Accepted, d.GetName(), d.inputs); ok {
				out.add(p)
			}
		}
	}
	next, unusable := module.Wanted(obj, c.digest)
	if (asked == module.EnforceProof || module.Promotes(obj)) && unusable == nil && !(serves && module.RevisionName(serving) == module.RevisionName(*next)) {
		err = c.prove(ctx, obj, work{besideOf(obj), *next, acknowledged}, proved, out)
		if errors.Is(err, module.ErrNoContent) {
			err = nil // it comes with a write of the module
		}
	}
	slices.SortFunc(out.proofs, func(a, b module.Proved) int { return strings.Compare(of(a), of(b)) })
	out.proofs = slices.CompactFunc(out.proofs, func(a, b module.Proved) bool { return of(a) == of(b) })
	if err == nil {
		c.remember(obj.GetName(), out.proofs)
	}
	return out, err
}

// of is what a proof is of: a status has one of each.
func of(p module.Proved) string { return p.Revision + " " + p.Definition }

// besideOf is what a revision is loaded as: no module can have that name.
func besideOf(obj *unstructured.Unstructured) string { return obj.GetName() + "@proof" }

// by finds what was found for a definition, while that is of one revision.
func (f *found) by(proved []bound) func(*unstructured.Unstructured) module.Proved {
	known := map[string]module.Proved{}
	for _, p := range f.proofs {
		known[p.Definition] = p
	}
	return func(d *unstructured.Unstructured) module.Proved {
		p, ok := known[d.GetName()]
		if !ok {
			p.Message = fmt.Sprintf("a module is proved for %d definitions, and no more", len(proved))
		}
		return p
	}
}

// prove adds what is known of a revision, and proves what is not, or came to nothing
// the last time.
func (c *Controller) prove(ctx context.Context, obj *unstructured.Unstructured, w work, definitions []bound, out *found) error {
	name := module.RevisionName(w.revision)
	known := c.knownOf(obj)
	before := map[string]module.Proved{} // those to be proved, by definition
	var left []*unstructured.Unstructured
	for _, d := range definitions {
		p, ok := module.ProvedOf(known, name, d.GetName(), d.inputs)
		if ok && (!p.Again() || p.Due(time.Now()) > 0) {
			out.add(p)
			continue
		}
		p.Revision, p.Definition, p.Inputs = name, d.GetName(), d.inputs
		before[d.GetName()] = p
		left = append(left, d.Unstructured)
	}
	if len(left) == 0 {
		return nil
	}
	var came []module.Proved
	err := c.bench.prove(ctx, w, left, func(d *unstructured.Unstructured, r proof.Report, tried bool) {
		p := before[d.GetName()].Then(Outcome(r), tried)
		came = append(came, p)
		out.add(p)
	})
	if err != nil && len(came) > 0 {
		c.remember(obj.GetName(), slices.Concat(came, c.remembered(obj.GetName())))
	}
	return err
}

// add adds what is known, and when to look for more.
func (f *found) add(p module.Proved) {
	f.proofs = append(f.proofs, p)
	if !p.Again() {
		return
	}
	due := p.Due(time.Now())
	if due <= 0 { // nothing was tried
		due = module.AttemptPause
	}
	if f.again == 0 || due < f.again {
		f.again = due
	}
}

// knownOf is what was proved of a module, the newest first.
func (c *Controller) knownOf(obj *unstructured.Unstructured) []module.Proved {
	return slices.Concat(c.remembered(obj.GetName()), module.StatusOf(obj).Proofs)
}

func (c *Controller) remembered(name string) []module.Proved {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[name]
}

// remember keeps what was proved of a module: a write of its status may fail, or not be
// seen yet.
func (c *Controller) remember(name string, proofs []module.Proved) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[name] = proofs
}

// report writes what is known, if it is another. Of a module that was made again in the
// place of the one that was looked at nothing is known.
func (c *Controller) report(ctx context.Context, seen *unstructured.Unstructured, found *found) error {
	obj, err := c.objects.Get(ctx, gvr.Modules, "", seen.GetName()) // a proof takes a while
	if err != nil || obj.GetUID() != seen.GetUID() {
		return err
	}
	changed, err := module.SetProofs(obj, found.proofs)
	if err != nil {
		return err
	}
	said, err := gvr.ChangeConditions(obj, func(all []metav1.Condition) []metav1.Condition {
		if found.unsaid {
			return all
		}
		if found.condition == nil {
			meta.RemoveStatusCondition(&all, module.Lossless)
		} else {
			meta.SetStatusCondition(&all, *found.condition)
		}
		return all
	})
	if err != nil || !changed && !said {
		return err
	}
	_, err = c.objects.Update(ctx, gvr.Modules, "status", obj)
	return err
}
