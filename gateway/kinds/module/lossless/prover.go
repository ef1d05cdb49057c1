package lossless

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/plugins"
)

// The bounds of one proof.
const (
	budget  = 5 * time.Second
	objects = 300 // for each pair of versions

	storedBudget  = 2 * time.Second
	storedObjects = 10
)

// Prover implements Proofs.
type Prover struct {
	// Converter is the converter that the module of that name is.
	Converter func(name string) *conversion.Bulk
	// Stored are some objects as they are stored, most at most; nil for none. Nothing of
	// what they hold is told.
	Stored func(gr schema.GroupResource, most int) ([][]byte, error)
}

// Prove implements Proofs.
func (p Prover) Prove(ctx context.Context, name string, obj *unstructured.Unstructured, acknowledged []string, branches proof.Branches) (proof.Report, error) {
	c, err := definition.FromTree(obj.Object)
	if err != nil {
		return proof.Report{}, err
	}
	d, err := custom.Compile(c)
	if err != nil {
		return proof.Report{}, err
	}
	o := proof.Options{Seed: 1, Budget: budget, Objects: objects, Acknowledged: acknowledged, Temporary: temporary, Branches: branches, Stored: c.Status.StoredVersions}
	report := proof.Prove(ctx, d, p.Converter(name), o)
	if p.Stored == nil {
		return report, nil
	}
	stored, err := p.Stored(d.GroupResource(), storedObjects)
	if err != nil { // it is not served yet
		return report, nil
	}
	o.Budget, o.Branches = storedBudget, nil
	return report.With(proof.Stored(ctx, d, p.Converter(name), stored, o)), nil
}

// temporary are failures of calls that a busy machine may cause.
func temporary(err error) bool {
	var call *plugins.CallError
	return errors.As(err, &call) && (call.Kind == plugins.Deadline || call.Kind == plugins.NotReady || call.Later())
}
