package conversionrules

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
)

// patience is how long a write waits for proofs: for its turn, and for them.
const patience = 15 * time.Second

// guard warns of definitions that name rules that are not there, and refuses to bind
// rules that lose something, or to change those that are bound to such, where they ask
// for it (spec.proof: Enforce). It proves one write at a time.
type guard struct {
	objects reader
	turn    chan struct{}
}

// reader is what the guard needs of objects.
type reader interface {
	client.Getter
	client.Lister
	client.Freshener
}

var _ admission.Validator = &guard{}

func newGuard(objects reader) *guard { return &guard{objects, make(chan struct{}, 1)} }

// Name implements [admission.Plugin].
func (*guard) Name() string { return order.RulesProof }

// Validate implements [admission.Validator].
func (g *guard) Validate(ctx context.Context, a admission.Attributes) error {
	if a.GetObject() == nil || a.GetSubresource() != "" || a.IsOwn() {
		return nil
	}
	switch a.GetResource().GroupResource() {
	case gvr.Definitions:
		return g.binds(ctx, a)
	case gvr.Rules:
		return g.changes(ctx, a)
	}
	return nil
}

// binds judges a definition. One that is bound already, and whose versions stay as they
// are, is left alone.
func (g *guard) binds(ctx context.Context, a admission.Attributes) error {
	now := a.GetObject()
	name := rulesOf(now)
	if name == "" {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	if old != nil && module.Basis(old) == module.Basis(now) {
		return nil
	}
	at := field.NewPath("spec", "conversion", "webhook", "clientConfig", "url")
	if err := g.objects.Fresh(ctx); err != nil { // rules may have been written just before
		return err
	}
	obj, err := g.objects.Get(ctx, gvr.Rules, "", name)
	if apierrors.IsNotFound(err) {
		a.Warn(fmt.Sprintf("%s: there are no ConversionRules %q; until there are, objects cannot be converted", at, name))
		return nil
	}
	if err != nil {
		return err
	}
	return g.judge(ctx, a, obj, at, []*unstructured.Unstructured{now})
}

// changes judges rules that are bound, new ones of whose name a definition spoke before,
// too. Those of which nothing but the status changes are left alone.
func (g *guard) changes(ctx context.Context, a admission.Attributes) error {
	obj := a.GetObject()
	old, err := a.GetOldObject(ctx)
	if err != nil || old != nil && reflect.DeepEqual(gvr.Section(old, "spec"), gvr.Section(obj, "spec")) {
		return err
	}
	if err := g.objects.Fresh(ctx); err != nil {
		return err
	}
	all, err := bound(ctx, g.objects, obj.GetName())
	if err != nil || len(all) == 0 {
		return err
	}
	return g.judge(ctx, a, obj, field.NewPath("spec", "conversions"), all)
}

// judge refuses a write if rules that ask for it lose something of a definition.
func (g *guard) judge(ctx context.Context, a admission.Attributes, obj *unstructured.Unstructured, at *field.Path, definitions []*unstructured.Unstructured) error {
	if asked, _ := module.ProofAsked(obj); asked != module.EnforceProof {
		return nil
	}
	spec, err := read(obj)
	if err != nil {
		return nil // who validates rules refuses them
	}
	r, _, errs := rules.CompileStored(spec)
	if len(errs) > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		a.Warn(fmt.Sprintf("%s: it is not proved that ConversionRules %q lose nothing: others are being proved", at, obj.GetName()))
		return nil
	}
	prover := proverOf(r)
	for _, d := range definitions {
		report, err := prover.Prove(ctx, obj.GetName(), d, r.Acknowledged(), nil)
		if err != nil {
			report = proof.Report{Verdict: proof.Unknown, Why: err.Error()}
		}
		switch report.Verdict {
		case proof.Lossy:
			text := "the rules lose what they convert for " + d.GetName() + ": " + lossless.Told(report) +
				"\ncorrect the rules or the schemas, or list the field in spec.acknowledgedLoss of the ConversionRules if it may be lost"
			return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), field.ErrorList{field.Invalid(at, obj.GetName(), gvr.Shorten(text))})
		case proof.Unknown:
			a.Warn(fmt.Sprintf("%s: it is not proved that ConversionRules %q lose nothing of %s: %s", at, obj.GetName(), d.GetName(), gvr.Shorten(report.Why)))
		}
	}
	return nil
}

// proverOf proves rules.
func proverOf(r *rules.Rules) lossless.Prover {
	return lossless.Prover{Converter: func(name string) *conversion.Bulk {
		return conversion.Batched(r.Converter(name), conversion.Batch{})
	}}
}
