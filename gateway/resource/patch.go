package resource

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/jsonpatch"
)

// Patch changes an object by a JSON patch (RFC 6902), a JSON merge patch
// (RFC 7386) or, for kinds that have a Go type, a strategic merge patch.
func (e *Engine) Patch(ctx context.Context, t Target, kind types.PatchType, body []byte, o WriteOptions) (*Written, error) {
	return e.update(ctx, t, &patching{kind: kind, body: body}, o, false)
}

// patching is a patch of the present state.
type patching struct {
	kind       types.PatchType
	body       []byte
	apply      patch
	duplicates []string
	// wrong is why the body is no patch, which is told once there is an object
	// that it could have changed.
	wrong error
}

// state is what a patch is applied to, which only reads it.
type state struct {
	json []byte
	tree map[string]any
}

// patch computes the new object from the present one. It may run several
// times; what it returns is the caller's.
type patch func(from state) (map[string]any, error)

// decode implements [source]: the patch is parsed once.
func (p *patching) decode(w *Write) (err error) {
	if p.apply != nil || p.wrong != nil {
		return nil
	}
	if p.apply, p.duplicates, err = w.patcher(p.kind, p.body, w.Version.Typed); apierrors.IsUnsupportedMediaType(err) {
		return err
	}
	p.wrong = err
	return nil
}

// change implements [source]: the outcome of a patch is made well-formed.
func (p *patching) change(_ context.Context, w *Write) error {
	if p.wrong != nil {
		return p.wrong
	}
	from := state{w.present, w.old.Object}
	tree, err := p.apply(from)
	if err != nil {
		return err
	}
	err = w.acceptPatched(tree, p.duplicates, w.Options)
	if _, ok := err.(apierrors.APIStatus); !ok && err != nil {
		if p.kind == types.StrategicMergePatchType {
			changes, _, _ := object.Parse(p.body) // which it was made of
			return invalidPatch(fmt.Appendf(nil, "%+v", changes), w.mismatch(p.apply, from, err))
		}
		return w.invalidOutcome(p.apply, from, err)
	}
	w.object = asUnstructured(tree)
	return err
}

// mismatch is why the outcome of a strategic merge patch is no object of the
// kind: kube-apiserver reads it from a tree, not from text, and says so in other
// words.
func (t Target) mismatch(apply patch, from state, err error) error {
	tree, again := apply(from)
	if again != nil {
		return err
	}
	if other := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, t.Version.Typed()); other != nil {
		return other
	}
	return err
}

// patcher decodes a patch of what typed makes, if that is a kind with a Go type.
func (t Target) patcher(kind types.PatchType, body []byte, typed func() runtime.Object) (patch, []string, error) {
	switch kind {
	case types.JSONPatchType:
		return jsonPatcher(body)
	case types.MergePatchType:
		changes, duplicates, err := object.Parse(body)
		switch {
		case isNull(body):
			return nil, nil, apierrors.NewBadRequest("Invalid JSON Patch")
		case err != nil:
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		return func(from state) (map[string]any, error) {
			return merge(object.Clone(from.tree), changes), nil
		}, duplicates, nil
	case types.StrategicMergePatchType:
		if t.Version.Native() {
			return strategicPatcher(body, typed)
		}
	}
	return nil, nil, UnsupportedPatch(t)
}

// Unrouted is a refusal that kube-apiserver makes before it knows what version a
// request is about, and so without that version's warning.
type Unrouted struct{ *apierrors.StatusError }

// Patches reports whether the target takes patches of a kind.
func (t Target) Patches(kind types.PatchType) bool {
	switch kind {
	case types.JSONPatchType, types.MergePatchType:
		return true
	}
	return kind == types.StrategicMergePatchType && t.Version.Native()
}

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

func jsonPatcher(body []byte) (patch, []string, error) {
	operations, err := jsonpatch.Decode(body)
	var many *jsonpatch.TooMany
	if errors.As(err, &many) {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", jsonpatch.MaxOperations, many.Operations))
	}
	if err != nil {
		return nil, nil, apierrors.NewBadRequest("error decoding patch: " + err.Error())
	}
	return func(from state) (map[string]any, error) {
		data, err := operations.Apply(from.json)
		if err != nil {
			return nil, unprocessable(err)
		}
		tree, _, err := object.ParseObject(data)
		if err != nil {
			return nil, invalidPatch(data, err)
		}
		return tree, nil
	}, oddOperations(body), nil
}

// oddOperations names the fields of a JSON patch that are duplicate or that
// operations do not have.
func oddOperations(body []byte) (odd []string) {
	const wrapper = `{"patch":`
	wrapped := slices.Concat([]byte(wrapper), body, []byte("}"))
	tree, duplicates, err := object.Parse(wrapped)
	if err != nil {
		return nil // the patch library is less strict; there is nothing to say
	}
	for _, d := range duplicates {
		odd = append(odd, "json patch "+strings.Replace(d, `"patch[`, `"[`, 1))
	}
	operations, _ := tree["patch"].([]any)
	for i, o := range operations {
		fields, _ := o.(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(fields)) {
			switch k {
			case "op", "path", "from", "value":
			default:
				odd = append(odd, fmt.Sprintf("json patch unknown field %q", fmt.Sprintf("[%d].%s", i, k)))
			}
		}
	}
	return odd
}

func unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}

// unmergeable tells what the library has against a strategic merge patch: a 422,
// where kube-apiserver says the same as an error of its own.
func unmergeable(err error) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: err.Error(),
	}}
}

// invalidPatch is the refusal of a patch whose outcome is no object.
func invalidPatch(outcome []byte, err error) error {
	const shown = 4096
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), atMost(shown, outcome), err.Error()),
	})
}

// invalidOutcome is invalidPatch of a patch that has to be applied again, since
// its outcome was worked upon.
func (t Target) invalidOutcome(apply patch, from state, why error) error {
	tree, err := apply(from)
	if err != nil {
		return err
	}
	data, err := object.Encode(tree)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	return invalidPatch(data, why)
}

func strategicPatcher(body []byte, typed func() runtime.Object) (patch, []string, error) {
	changes, duplicates, err := object.Parse(body)
	if isNull(body) { // changes nothing, as kube-apiserver has it
		changes, err = map[string]any{}, nil
	}
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return func(from state) (map[string]any, error) {
		// The library changes both, and may keep parts of them.
		tree, err := strategicpatch.StrategicMergeMapPatch(object.Clone(from.tree), object.Clone(changes), typed())
		switch {
		case errors.Is(err, mergepatch.ErrBadJSONDoc), errors.Is(err, mergepatch.ErrBadPatchFormatForPrimitiveList),
			errors.Is(err, mergepatch.ErrBadPatchFormatForRetainKeys), errors.Is(err, mergepatch.ErrBadPatchFormatForSetElementOrderList),
			errors.Is(err, mergepatch.ErrUnsupportedStrategicMergePatchFormat):
			return nil, apierrors.NewBadRequest(err.Error())
		case err != nil:
			return nil, unmergeable(err)
		}
		// As the fields of a Go value they cannot be changed.
		tree["kind"], tree["apiVersion"] = from.tree["kind"], from.tree["apiVersion"]
		return tree, nil
	}, duplicates, nil
}

func isNull(body []byte) bool { return string(bytes.TrimSpace(body)) == "null" }

// merge applies a JSON merge patch to an object in place. The patch is only
// read; what it adds is copied.
func merge(old, patch map[string]any) map[string]any {
	for k, v := range patch {
		switch p := v.(type) {
		case nil:
			delete(old, k)
		case map[string]any:
			target, ok := old[k].(map[string]any)
			if !ok {
				target = map[string]any{}
			}
			old[k] = merge(target, p)
		default:
			_, wasObject := old[k].(map[string]any)
			old[k] = object.CloneValue(v)
			if !wasObject { // kube-apiserver's library keeps them then
				dropNulls(old[k])
			}
		}
	}
	return old
}

// dropNulls removes the fields of v, at any depth, that are null: a merge patch
// cannot set any, in lists neither. Items of lists stay.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, field := range v {
			if field == nil {
				delete(v, k)
			}
			dropNulls(field)
		}
	case []any:
		for _, item := range v {
			dropNulls(item)
		}
	}
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
