package write

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/patch"
)

// Patch changes an object by a JSON patch (RFC 6902), a JSON merge patch
// (RFC 7386) or, for kinds that have a Go type, a strategic merge patch.
func (e *Writer) Patch(ctx context.Context, t resource.Target, kind types.PatchType, body []byte, o resource.WriteOptions) (*resource.Written, error) {
	if scales(t) != nil {
		s, err := patchScale(t, kind, body)
		if err != nil {
			return nil, err
		}
		return e.scale(ctx, t, s, o)
	}
	return e.update(ctx, request{Target: t, Options: o}, &patching{kind: kind, body: body})
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
	if !patch.Supported(p.kind, r.Version.Typed) {
		return patch.Unsupported()
	}
	p.apply, p.duplicates, p.wrong = patch.Decode(p.kind, p.body, r.Version.Typed)
	return nil
}

// size implements [source].
func (p *patching) size() int { return len(p.body) }

// change implements [source]: the outcome of a patch is made well-formed.
func (p *patching) change(_ context.Context, r *request, from *present) (n next, err error) {
	if p.wrong != nil {
		return n, p.wrong
	}
	state := patch.State{JSON: from.data, Tree: from.object.Object, Shared: !r.Version.Native()}
	tree, repeated, err := p.apply(state)
	if err != nil {
		return n, err
	}
	tree, err = acceptPatched(r.Target, tree, state.Shared, slices.Concat(p.duplicates, repeated), r.Options)
	if _, ok := err.(apierrors.APIStatus); !ok && err != nil {
		if p.kind == types.StrategicMergePatchType {
			return n, p.apply.RefuseStrategic(p.body, r.Version.Typed, state, err)
		}
		return n, p.apply.Refuse(state, err)
	}
	if err != nil {
		return n, err
	}
	n.object = asUnstructured(tree)
	return n, nil
}

// acceptPatched makes the outcome of a patch well-formed, unless the patch
// turned the object into another one. One that shares parts with the present state goes
// on doing so where the schema has nothing to change in it. An error that is no status
// says why the outcome is none of this kind.
func acceptPatched(t resource.Target, tree map[string]any, shares bool, duplicates []string, o resource.WriteOptions) (map[string]any, error) {
	if err := samePatched(t, tree); err != nil {
		if t.Version.Native() {
			return nil, err
		}
		if !takenAsStatus(t, tree) {
			return nil, cmp.Or(readElsewhere(t, object.Clone(tree), duplicates, nil, o), err)
		}
		tree = maps.Clone(tree)
		tree["apiVersion"], tree["kind"] = t.Resource.Def.APIVersion(t.Version.Name), t.Resource.Def.Kind
	}
	var err error
	if shares && t.Version.Shape.Canonical(tree) {
		ownMetadata(tree)
		err = o.Report(duplicates)
	} else {
		if shares {
			tree = object.Clone(tree)
		}
		_, err = wellFormed(t, tree, duplicates, nil, o)
	}
	if err != nil {
		return nil, err
	}
	return tree, sameName(t, asUnstructured(tree).GetName())
}

// takenAsStatus reports whether a tree that says to be of another kind or version is still taken
// as the status of an object: through that subresource nothing but the status is written, so
// what else it says does not count. At another version of the kind kube-apiserver reads it
// by that one's schema, and loses without a word what that does not have; such a one is
// taken where nothing is lost.
func takenAsStatus(t resource.Target, tree map[string]any) bool {
	apiVersion, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	switch {
	case t.Subresource != "status" || err != nil || apiVersion == "" || kind == "":
		return false
	case gv.Group != t.GVK().Group || kind != t.Resource.Def.Kind:
		return true
	}
	other, ok := atVersionOf(t, tree)
	if !ok {
		return false
	}
	unknown, err := other.Version.Shape.FromClient(object.Clone(tree), true)
	return err == nil && !slices.ContainsFunc(unknown, func(field string) bool {
		return field == object.TooLongToName || field == `unknown field "status"` || strings.HasPrefix(field, `unknown field "status.`)
	})
}

// ownMetadata makes the metadata, which a write changes, of an object that shares parts
// with another one its own.
func ownMetadata(tree map[string]any) {
	if meta, ok := tree["metadata"].(map[string]any); ok {
		tree["metadata"] = object.Clone(meta)
	}
}

func samePatched(t resource.Target, tree map[string]any) error {
	def := t.Resource.Def
	want := def.APIVersion(t.Version.Name)
	apiVersion, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	if t.Version.Native() { // which need not say what they are
		for _, name := range []string{"apiVersion", "kind"} {
			if _, err := textField(tree, name); err != nil {
				return err
			}
		}
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
	var problems field.ErrorList
	if kind != def.Kind {
		problems = append(problems, field.Invalid(field.NewPath("kind"), kind, "must be "+def.Kind))
	}
	if apiVersion != want {
		problems = append(problems, field.Invalid(field.NewPath("apiVersion"), apiVersion, "must be "+want))
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: gv.Group, Kind: kind}, t.Name, problems)
}
