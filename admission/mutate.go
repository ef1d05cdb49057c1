package admission

import (
	"context"
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd/object"
)

// maxOperations is the most operations of one patch.
const maxOperations = 10000

// maxCopies is how many bytes the copy operations of one patch may make.
const maxCopies = 3 << 20

func init() { jsonpatch.AccumulatedCopySizeLimit = maxCopies }

// Mutate asks the webhooks that match, one after the other, and makes the new
// state what they want. Who asks for it is asked once more when a later one
// changed something. The hooks are those of [Set.About].
func Mutate(ctx context.Context, hooks []*Hook, r *Request) error {
	m := mutation{Request: r, waiting: map[*Hook]bool{}, due: map[*Hook]bool{}}
	for _, h := range hooks {
		if err := m.ask(ctx, h); err != nil {
			return err
		}
	}
	if len(m.due) == 0 {
		return nil
	}
	m.second = true
	for _, h := range hooks {
		if err := m.ask(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// mutation is a request on its way through the webhooks.
type mutation struct {
	*Request
	second bool
	// waiting were asked and want to be asked again when something changes;
	// due are those after which something did.
	waiting, due map[*Hook]bool
}

func (m *mutation) ask(ctx context.Context, h *Hook) error {
	version, err := h.match(ctx, m.Request)
	if err != nil || version == "" || m.second && !m.due[h] {
		return err
	}
	changed, err := h.mutate(ctx, m.Request, version)
	if changed {
		for earlier := range m.waiting {
			m.due[earlier] = true
		}
		clear(m.waiting)
	}
	if h.again {
		m.waiting[h] = true
	}
	if err != nil {
		return h.settle(ctx, m.Request, err)
	}
	return nil
}

// mutate asks one webhook, and tells whether it changed something.
func (h *Hook) mutate(ctx context.Context, r *Request, version string) (changed bool, err error) {
	now, old, err := r.encode(ctx, version)
	if err != nil {
		return false, err
	}
	answer, err := h.call(ctx, r, version, now, old)
	if err != nil {
		return false, err
	}
	r.tell(answer)
	if err := h.verdict(answer); err != nil || len(answer.Patch) == 0 {
		return false, err
	}
	operations, err := h.operations(answer)
	if err != nil || len(operations) == 0 {
		return false, err
	}
	if now == nil {
		return false, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", h.Name))
	}
	before, err := r.Objects.New(ctx, version)
	if err != nil {
		return false, err
	}
	after, err := apply(operations, now)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if before[name] != after[name] {
			return false, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to change %s from %v to %v", h.Name, name, before[name], after[name]))
		}
	}
	if object.Equal(before, after) {
		return false, nil
	}
	return true, r.Objects.Replace(ctx, version, after)
}

// operations decodes the patch of an answer. An empty one may be of any type.
func (h *Hook) operations(a *admissionv1.AdmissionResponse) (jsonpatch.Patch, error) {
	p, err := jsonpatch.DecodePatch(a.Patch)
	if err == nil && len(p) > maxOperations {
		err = fmt.Errorf("it has %d operations; %d are allowed", len(p), maxOperations)
	}
	if err != nil {
		return nil, &failed{h.Name, fmt.Errorf("received undecodable patch in webhook response: %w", err)}
	}
	if t := a.PatchType; len(p) > 0 && t != nil && *t != admissionv1.PatchTypeJSONPatch {
		return nil, &failed{h.Name, fmt.Errorf("unsupported patch type %q", *t)}
	}
	return p, nil
}

// apply applies a patch that somebody else wrote.
func apply(p jsonpatch.Patch, to []byte) (tree map[string]any, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the patch cannot be applied")
		}
	}()
	data, err := p.Apply(to)
	if err != nil {
		return nil, err
	}
	tree, _, err = object.ParseObject(data)
	return tree, err
}
