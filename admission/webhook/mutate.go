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
	at := place{index: -1}
	if again {
		at.round = 1
	}
	for _, h := range m.hooks {
		at.index = max(at.index+1, h.index) // those of a folder come before, and are counted too
		if err := m.ask(ctx, h, at); err != nil {
			return err
		}
	}
	return nil
}

func (m *mutation) ask(ctx context.Context, h *Hook, at place) error {
	version, err := h.match(ctx, m.round, m.Authorizer)
	if err != nil || version == "" || !m.again.Asks(h) {
		return err
	}
	before := m.round.Changes()
	answer, err := h.mutate(ctx, &m.dispatch, version)
	changed := m.round.Changes() != before
	m.again.Asked(h, h.again, changed)
	m.mutated(ctx, h, at, changed, answer)
	if err == nil {
		return nil
	}
	refused, ignored := h.applyFailurePolicy(ctx, &m.dispatch, err)
	if ignored != nil {
		m.open(openMutatingKey, h, at, ignored)
	}
	return refused
}

// answered is what there is to tell of an answer.
type answered struct {
	patch []byte // that was applied, nil for none
	by    string // the digest of the module, "" for other webhooks
}

// mutate asks one webhook, and does what it wants.
func (h *Hook) mutate(ctx context.Context, r *dispatch, version string) (a answered, err error) {
	begun, refused := time.Now(), false
	defer func() { r.observe(h, begun, refused, err) }()
	now, old, err := r.encode(ctx, version)
	if err != nil {
		return a, err
	}
	answer, by, err := h.call(ctx, r, version, now, old)
	a.by = by
	if err != nil {
		return a, err
	}
	r.tell(h, answer)
	if err := h.verdict(answer); err != nil || len(answer.Patch) == 0 {
		refused = err != nil
		return a, err
	}
	operations, err := h.operations(answer)
	if err != nil || len(operations) == 0 {
		return a, err
	}
	if now == nil {
		return a, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", h.Name))
	}
	before, err := r.GetObjectAt(ctx, version)
	if err != nil {
		return a, err
	}
	after, err := patched(now, operations)
	if err != nil {
		return a, apierrors.NewInternalError(errors.New(cut(err.Error())))
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if before[name] != after[name] {
			return a, apierrors.NewInternalError(errors.New(cut(fmt.Sprintf("admission webhook %q attempted to change %s from %v to %v", h.Name, name, before[name], after[name]))))
		}
	}
	if a.patch = answer.Patch; object.Equal(before, after) {
		return a, nil
	}
	return a, r.Replace(ctx, version, after)
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
