package load

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// unproved refuses a revision that is known to lose something of a definition that
// converts with the module, or of which that is not known yet, where the module lets in
// no losses. What was let serve last may serve again. One gateway proves, and the status
// has what came of it; what nobody could prove may serve, as a definition may be bound
// to it.
func (c *Controller) unproved(ctx context.Context, obj *unstructured.Unstructured, rev plugins.Revision) (*module.Refusal, error) {
	if asked, _ := module.ProofAsked(obj); asked != module.EnforceProof {
		return nil, nil
	}
	status, name := module.StatusOf(obj), module.RevisionName(rev)
	if acceptedRevision(obj, status) == name {
		return nil, nil
	}
	all, err := c.objects.List(ctx, gvr.Definitions, "")
	if err != nil {
		return nil, fmt.Errorf("list definitions: %w", err)
	}
	definitions := module.Converting(all, obj.GetName())
	var waits []string
	for _, d := range definitions[:min(len(definitions), module.MaxProved)] {
		at := gvr.Definitions.Resource + "/" + d.GetName()
		switch p, ok := module.ProvedOf(status.Proofs, name, d.GetName(), module.ProofInputs(obj, d)); {
		case !ok:
			waits = append(waits, at)
		case p.Lossless == metav1.ConditionFalse:
			return &module.Refusal{Reason: module.FieldsLost, Message: fmt.Sprintf("%s: %s\ncorrect the module or the schemas, or list the field in spec.acknowledgedLoss if it may be lost", at, strings.TrimSuffix(p.Message, "\n"))}, nil
		case p.Again():
			waits = append(waits, fmt.Sprintf("%s (%s; it is tried again)", at, p.Message))
		}
	}
	if len(waits) == 0 {
		return nil, nil
	}
	return &module.Refusal{Reason: module.AwaitingProof, Message: "the check that nothing is lost has not ended for " + module.FirstNames(waits), Expected: true}, nil
}

// stillProved is the same just before a revision takes over: a definition may have been
// written meanwhile.
func (c *Controller) stillProved(ctx context.Context, obj *unstructured.Unstructured, rev plugins.Revision) (*module.Refusal, error) {
	if asked, _ := module.ProofAsked(obj); asked != module.EnforceProof {
		return nil, nil
	}
	if err := c.objects.Fresh(ctx); err != nil {
		return nil, err
	}
	return c.unproved(ctx, obj, rev)
}
