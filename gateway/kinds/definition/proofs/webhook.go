package proofs

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/conversion/webhook"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/definition"
)

// The bounds of one proof: a webhook serves others, too.
const (
	perSecond = 50
	budget    = 30 * time.Second
	objects   = 100 // for each pair of versions
)

// Webhook is the [Prover] that asks the webhook.
func Webhook(ctx context.Context, obj *unstructured.Unstructured, b Bounds) (proof.Report, error) {
	c, err := definition.FromTree(obj.Object)
	if err != nil {
		return proof.Report{}, err
	}
	d, err := custom.Compile(c)
	if err != nil {
		return proof.Report{}, err
	}
	if c.Spec.Conversion == nil {
		return proof.Report{}, errors.New("nothing converts")
	}
	w, err := webhook.New(webhook.Config{Conversion: c.Spec.Conversion.Webhook})
	if err != nil {
		return proof.Report{}, err
	}
	defer w.Close()
	return proof.Prove(ctx, d, w, proof.Options{Seed: 1, Budget: b.Budget, Objects: objects, Acknowledged: b.Acknowledged, PerSecond: perSecond, Temporary: webhook.Unreachable, Stored: c.Status.StoredVersions}), nil
}
