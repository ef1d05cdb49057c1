package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/jsonpatch"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Stage is the stage of the webhooks, of [Set.About], that may change a request:
// they are asked one after the other.
func (d *Dispatcher) Stage(hooks []*Hook, r *admission.Reinvocation) admission.Stage {
	return &mutation{dispatch: dispatch{Dispatcher: d, Attributes: r}, round: r, hooks: hooks}
}

// mutation is a request on its way through the webhooks.
type mutation struct {
	dispatch
	round *admission.Reinvocation
	hooks []*Hook
	again admission.Again[*Hook]
}

// Admit implements [Stage].
func (m *mutation) Admit(ctx context.Context, again bool) error {
	m.again.Begin(m.round, again)
	defer m.again.End(m.round)
	for _, h := range m.hooks {
		if err := m.ask(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

func (m *mutation) ask(ctx context.Context, h *Hook) error {
	version, err := h.match(ctx, m.round, m.Authorizer)
	if err != nil || version == "" || !m.again.Asks(h) {
		return err
	}
	before := m.round.Changes()
	err = h.mutate(ctx, &m.dispatch, version)
	m.again.Asked(h, h.again, m.round.Changes() != before)
	if err != nil {
		return h.applyFailurePolicy(ctx, &m.dispatch, err)
	}
	return nil
}

// mutate asks one webhook, and does what it wants.
func (h *Hook) mutate(ctx context.Context, r *dispatch, version string) (err error) {
	begun, refused := time.Now(), false
	defer func() { r.observe(h, begun, refused, err) }()
	now, old, err := r.encode(ctx, version)
	if err != nil {
		return err
	}
	answer, err := h.call(ctx, r, version, now, old)
	if err != nil {
		return err
	}
	r.tell(h, answer)
	if err := h.verdict(answer); err != nil || len(answer.Patch) == 0 {
		refused = err != nil
		return err
	}
	operations, err := h.operations(answer)
	if err != nil || len(operations) == 0 {
		return err
	}
	if now == nil {
		return apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", h.Name))
	}
	before, err := r.GetObjectAt(ctx, version)
	if err != nil {
		return err
	}
	after, err := patched(now, operations)
	if err != nil {
		return apierrors.NewInternalError(errors.New(cut(err.Error())))
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if before[name] != after[name] {
			return apierrors.NewInternalError(errors.New(cut(fmt.Sprintf("admission webhook %q attempted to change %s from %v to %v", h.Name, name, before[name], after[name]))))
		}
	}
	if object.Equal(before, after) {
		return nil
	}
	return r.Replace(ctx, version, after)
}

// operations decodes the patch of an answer. An empty one may be of any type.
func (h *Hook) operations(a *admissionv1.AdmissionResponse) (jsonpatch.Patch, error) {
	p, err := jsonpatch.Decode(a.Patch)
	if err != nil {
		return nil, &failed{h.Name, fmt.Errorf("received undecodable patch in webhook response: %w", err)}
	}
	if t := a.PatchType; len(p) > 0 && t != nil && *t != admissionv1.PatchTypeJSONPatch {
		return nil, &failed{h.Name, fmt.Errorf("unsupported patch type %q", *t)}
	}
	return p, nil
}

// patched is what a patch makes of an object.
func patched(now []byte, p jsonpatch.Patch) (map[string]any, error) {
	data, err := p.Apply(now)
	if err != nil {
		return nil, err
	}
	tree, _, err := object.ParseObject(data)
	return tree, err
}
