package proofs

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
)

// patience is how long a write of a definition waits for a proof: for its turn, and for the
// proof, which has guardBudget.
const (
	patience    = 15 * time.Second
	guardBudget = 10 * time.Second
)

// Guard refuses definitions whose webhook loses something of what it converts, where they
// ask for it (Enforce). It proves one at a time; what nobody had the time to prove, or what
// no webhook answered, is let in.
type Guard struct {
	prove Prover
	turn  chan struct{}
}

var _ admission.Validator = &Guard{}

// NewGuard returns the admission plugin.
func NewGuard(prove Prover) *Guard { return &Guard{prove, make(chan struct{}, 1)} }

// Name implements [admission.Plugin].
func (*Guard) Name() string { return order.WebhookProof }

// Validate implements [admission.Validator]. A definition that is bound already, and whose
// versions stay as they are, is left alone.
func (g *Guard) Validate(ctx context.Context, a admission.Attributes) error {
	if a.GetResource().GroupResource() != gvr.Definitions || a.GetObject() == nil || a.GetSubresource() != "" || a.IsOwn() {
		return nil
	}
	now := a.GetObject()
	asked, acknowledged := askedOf(now)
	switch asked {
	case "", module.ReportLoss:
		return nil
	case module.EnforceProof:
	default:
		a.Warn(fmt.Sprintf("metadata.annotations[%s]: want %s or %s, got %.100q: nothing is proved", Annotation, module.ReportLoss, module.EnforceProof, asked))
		return nil
	}
	if !isConverted(now) {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil || old != nil && binding(old) == binding(now) {
		return err
	}
	report := g.report(ctx, now, Bounds{acknowledged, guardBudget})
	at := field.NewPath("spec", "conversion", "webhook", "clientConfig")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case report.Verdict == proof.Lossy:
		text := "the webhook loses what it converts: " + lossless.Told(report) +
			"\ncorrect it or the schemas, or list the field in the annotation " + AcknowledgedAnnotation + " if it may be lost"
		return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), field.ErrorList{field.Invalid(at, where(now), gvr.Shorten(text))})
	case report.Verdict != proof.Lossless:
		a.Warn(fmt.Sprintf("%s: it is not proved that the webhook loses nothing: %s", at, gvr.Shorten(report.Why)))
	}
	return nil
}

// report waits for its turn and proves.
func (g *Guard) report(ctx context.Context, obj *unstructured.Unstructured, b Bounds) proof.Report {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return proof.Report{Verdict: proof.Unknown, Why: "others are being proved"}
	}
	report, err := g.prove(ctx, obj, b)
	if err != nil {
		return proof.Report{Verdict: proof.Unknown, Why: err.Error()}
	}
	return report
}

// binding is what a proof depends on. Of the authorities of a webhook only that there are
// some: without, there is no asking it, and when they are replaced nothing else changes.
func binding(definition *unstructured.Unstructured) string {
	d := definition.DeepCopy()
	path := []string{"spec", "conversion", "webhook", "clientConfig", "caBundle"}
	if bundle, _, _ := unstructured.NestedString(d.Object, path...); bundle != "" {
		if unstructured.SetNestedField(d.Object, "some", path...) != nil {
			return "" // what holds a text can be changed
		}
	}
	return module.Basis(d)
}

// where is the webhook of a definition.
func where(obj *unstructured.Unstructured) string {
	config := []string{"spec", "conversion", "webhook", "clientConfig"}
	if url, _, _ := unstructured.NestedString(obj.Object, append(config, "url")...); url != "" {
		return url
	}
	namespace, _, _ := unstructured.NestedString(obj.Object, append(config, "service", "namespace")...)
	name, _, _ := unstructured.NestedString(obj.Object, append(config, "service", "name")...)
	return "svc/" + namespace + "/" + name
}
