package resource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/gateway/resource/patch"
)

// Patch changes an object by a JSON patch (RFC 6902), a JSON merge patch
// (RFC 7386) or, for kinds that have a Go type, a strategic merge patch.
func (e *Engine) Patch(ctx context.Context, t Target, kind types.PatchType, body []byte, o WriteOptions) (*Written, error) {
	if t.scales() != nil {
		return e.patchScale(ctx, t, kind, body, o)
	}
	return e.update(ctx, t, &patching{kind: kind, body: body}, o, false)
}

// patching is a patch of the present state.
type patching struct {
	kind       types.PatchType
	body       []byte
	apply      patch.Patch
	duplicates []string
	// wrong is why the body is no patch, which is told once there is an object
	// that it could have changed.
	wrong error
}

// decode implements [source]: the patch is parsed once.
func (p *patching) decode(r *request) (err error) {
	if p.apply != nil || p.wrong != nil {
		return nil
	}
	if p.apply, p.duplicates, err = patch.Decode(p.kind, p.body, r.Version.Typed); errors.Is(err, patch.ErrUnsupported) {
		return UnsupportedPatch(r.Target)
	}
	p.wrong = err
	return nil
}

// change implements [source]: the outcome of a patch is made well-formed.
func (p *patching) change(_ context.Context, r *request, from *present) (n next, err error) {
	if p.wrong != nil {
		return n, p.wrong
	}
	state := patch.State{JSON: from.data, Tree: from.object.Object}
	tree, err := p.apply(state)
	if err != nil {
		return n, err
	}
	err = r.acceptPatched(tree, p.duplicates, r.Options)
	if _, ok := err.(apierrors.APIStatus); !ok && err != nil {
		if p.kind == types.StrategicMergePatchType {
			return n, p.apply.RefuseStrategic(p.body, r.Version.Typed, state, err)
		}
		return n, p.apply.Refuse(state, err)
	}
	n.object = asUnstructured(tree)
	return n, err
}

// Unrouted is a refusal that kube-apiserver makes before it knows what version a
// request is about, and so without that version's warning.
type Unrouted struct{ *apierrors.StatusError }

// UnsupportedPatch is the refusal of a patch whose media type the target does
// not take.
func UnsupportedPatch(t Target) error {
	err := &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s, %s, %s", types.JSONPatchType, types.MergePatchType, ApplyPatchType),
	}}
	if t.Version != nil && t.Version.Native() { // its router says so
		err.ErrStatus.Message, err.ErrStatus.Details = "415: Unsupported Media Type", &metav1.StatusDetails{}
		return Unrouted{err}
	}
	return err
}

// acceptPatched makes the outcome of a patch well-formed, unless the patch
// turned the object into another one. An error that is no status says why the
// outcome is none of this kind.
func (t Target) acceptPatched(tree map[string]any, duplicates []string, o WriteOptions) error {
	if err := t.samePatched(tree); err != nil {
		return err
	}
	if err := t.wellFormed(tree, duplicates, nil, o); err != nil {
		return err
	}
	return t.sameName(asUnstructured(tree).GetName())
}

func (t Target) samePatched(tree map[string]any) error {
	def := t.Resource.Def
	want := def.APIVersion(t.Version.Name)
	apiVersion, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	if t.Version.Native() { // which need not say what they are
		kind, apiVersion = cmp.Or(kind, def.Kind), cmp.Or(apiVersion, want)
		tree["kind"], tree["apiVersion"] = kind, apiVersion
	}
	if apiVersion == want && kind == def.Kind {
		return nil
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil || apiVersion == "" || kind == "" || t.Version.Native() {
		return fmt.Errorf("no kind %q is registered for version %q", kind, apiVersion)
	}
	problem := field.Invalid(field.NewPath("apiVersion"), apiVersion, "must be "+want)
	if kind != def.Kind {
		problem = field.Invalid(field.NewPath("kind"), kind, "must be "+def.Kind)
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: gv.Group, Kind: kind}, t.Name, field.ErrorList{problem})
}
