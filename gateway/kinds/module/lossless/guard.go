package lossless

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// patience is how long a write of a definition waits for a proof: for its turn, until
// the module is loaded, and for the proof itself.
const patience = 15 * time.Second

// maxRemembered is of how many definitions a guard remembers what was proved.
const maxRemembered = 64

// Guard refuses definitions of which the module that is to convert for them loses
// something, where the module asks for it (spec.proof: Enforce). It proves one at a
// time, beside what serves; what nobody had the time to prove is let in.
type Guard struct {
	objects client.Getter
	digest  func([]byte) string
	bench
	turn chan map[string]module.Proved // holds what is remembered, while nobody has it
}

var _ admission.Validator = &Guard{}

// NewGuard returns the admission plugin.
func NewGuard(objects client.Getter, modules Runtime, content Content, proofs Proofs) *Guard {
	g := &Guard{objects: objects, digest: content.Digest, bench: bench{modules, content, proofs}, turn: make(chan map[string]module.Proved, 1)}
	g.turn <- map[string]module.Proved{}
	return g
}

// Name implements [admission.Plugin].
func (*Guard) Name() string { return order.ModuleProof }

// Validate implements [admission.Validator]. A definition that is bound already, and
// whose versions stay as they are, is left alone.
func (g *Guard) Validate(ctx context.Context, a admission.Attributes) error {
	if a.GetResource().GroupResource() != gvr.Definitions || a.GetObject() == nil || a.GetSubresource() != "" || a.IsOwn() {
		return nil
	}
	now := a.GetObject()
	if len(module.NeedOf(now).Conversions) == 0 {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	if old != nil && module.Basis(old) == module.Basis(now) {
		return nil
	}
	obj, err := g.objects.Get(ctx, gvr.Modules, "", module.NeedOf(now).Module)
	if err != nil {
		return gvr.IgnoreNotFound(err) // who looks at references warns
	}
	asked, acknowledged := module.ProofAsked(obj)
	if asked != module.EnforceProof {
		return nil
	}
	at := module.References(gvr.Definitions, now.Object)[0].Path
	came := g.prove(ctx, obj, now, acknowledged)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case came.Lossless == metav1.ConditionFalse:
		text := "the module loses what it converts: " + came.Message + "\ncorrect the module or the schemas, or list the field in spec.acknowledgedLoss of the WasmModule if it may be lost"
		return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), field.ErrorList{field.Invalid(at, obj.GetName(), gvr.Shorten(text))})
	case came.Lossless == metav1.ConditionUnknown:
		a.Warn(fmt.Sprintf("%s: it is not proved that WasmModule %q loses nothing: %s", at, obj.GetName(), gvr.Shorten(came.Message)))
	}
	return nil
}

// prove is what is known of the revision of a module that serves, for a definition.
// Unknown is not remembered: another time there may be more of it.
func (g *Guard) prove(ctx context.Context, obj, definition *unstructured.Unstructured, acknowledged []string) module.Proved {
	unknown := func(why string) module.Proved { return Outcome(proof.Report{Verdict: proof.Unknown, Why: why}) }
	rev, ok := module.Serving(obj, g.digest)
	if !ok {
		return unknown("its revision does not serve yet")
	}
	inputs, name := module.ProofInputs(obj, definition), module.RevisionName(rev)
	if p, ok := module.ProvedOf(module.StatusOf(obj).Proofs, name, definition.GetName(), inputs); ok && p.Lossless != metav1.ConditionUnknown {
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var known map[string]module.Proved
	select {
	case known = <-g.turn:
		defer func() { g.turn <- known }()
	case <-ctx.Done():
		return unknown("others are being proved")
	}
	key := strings.Join([]string{obj.GetName(), name, inputs}, " ")
	if came, ok := known[key]; ok {
		return came
	}
	came := unknown("the time is up")
	err := g.bench.prove(ctx, work{obj.GetName() + "@binding", rev, acknowledged}, []*unstructured.Unstructured{definition},
		func(_ *unstructured.Unstructured, r proof.Report, _ bool) { came = Outcome(r) })
	if err != nil && ctx.Err() == nil {
		return unknown(err.Error())
	}
	if came.Lossless != metav1.ConditionUnknown {
		if len(known) >= maxRemembered {
			clear(known)
		}
		known[key] = came
	}
	return came
}
