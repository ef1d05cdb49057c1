package lossless

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	turn chan map[string]proof.Report // holds what is remembered, while nobody has it
}

var _ admission.Validator = &Guard{}

// NewGuard returns the admission plugin.
func NewGuard(objects client.Getter, modules Runtime, content Content, proofs Proofs) *Guard {
	g := &Guard{objects: objects, digest: content.Digest, bench: bench{modules, content, proofs}, turn: make(chan map[string]proof.Report, 1)}
	g.turn <- map[string]proof.Report{}
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
	bound := Basis(now)
	if old != nil && Basis(old) == bound {
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
	report := g.prove(ctx, obj, now, acknowledged, bound)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case report.Verdict == proof.Lossy:
		text := "the module loses what it converts: " + Told(report) + "\nmend the module or the schemas, or list the field in spec.acknowledgedLoss of the WasmModule, if its loss is meant"
		return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), field.ErrorList{field.Invalid(at, obj.GetName(), gvr.Shorten(text))})
	case report.Verdict == proof.Unknown:
		a.Warn(fmt.Sprintf("%s: it is not proved that WasmModule %q loses nothing: %s", at, obj.GetName(), gvr.Shorten(report.Why)))
	}
	return nil
}

// Basis is what a proof for a definition depends on, besides the module.
func Basis(definition *unstructured.Unstructured) string {
	spec := gvr.Section(definition, "spec")
	text, err := json.Marshal([]any{definition.GetName(), spec["conversion"], spec["versions"], spec["preserveUnknownFields"]})
	if err != nil { // it came as JSON
		return definition.GetName()
	}
	return string(text)
}

// prove is what is known of the revision of a module that serves, for a definition.
// Unknown is not remembered: another time there may be more of it.
func (g *Guard) prove(ctx context.Context, obj, definition *unstructured.Unstructured, acknowledged []string, bound string) proof.Report {
	unknown := func(why string) proof.Report { return proof.Report{Verdict: proof.Unknown, Why: why} }
	rev, unusable := module.Wanted(obj, g.digest)
	if unusable != nil || module.StatusOf(obj).Digest != rev.Digest {
		return unknown("its revision does not serve yet")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var known map[string]proof.Report
	select {
	case known = <-g.turn:
		defer func() { g.turn <- known }()
	case <-ctx.Done():
		return unknown("others are being proved")
	}
	key := fmt.Sprintf("%s %q %s", module.Identity(*rev), acknowledged, bound)
	if report, ok := known[key]; ok {
		return report
	}
	report := unknown("the time is up")
	err := g.bench.prove(ctx, work{obj.GetName() + "@binding", *rev, acknowledged}, []*unstructured.Unstructured{definition},
		func(_ *unstructured.Unstructured, r proof.Report) { report = r })
	if err != nil && ctx.Err() == nil {
		return unknown(err.Error())
	}
	if report.Verdict != proof.Unknown {
		if len(known) >= maxRemembered {
			clear(known)
		}
		known[key] = report
	}
	return report
}
