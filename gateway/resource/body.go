package resource

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Field validation levels.
const (
	validationIgnore = "Ignore"
	validationStrict = "Strict"
)

// maxStrictErrors is the most unknown or duplicate fields that are named.
const maxStrictErrors = 100

// decodeBody reads an object that a client sent: its tree, well-formed by the
// version's schema, with unknown and duplicate fields reported as the options
// ask.
func (t Target) decodeBody(body []byte, o WriteOptions) (map[string]any, error) {
	tree, duplicates, err := object.Parse(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %s (%s)", t.Resource.Def.Kind, err, excerpt(body)))
	}
	if err := t.checkKind(tree, body); err != nil {
		return nil, err
	}
	if err := t.wellFormed(tree, slices.Concat(o.Problems, duplicates), o); err != nil {
		if _, ok := err.(apierrors.APIStatus); ok {
			return nil, err
		}
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %s", t.Resource.Def.Kind, t.Version.Name, t.Resource.Def.Kind, err))
	}
	return tree, nil
}

// wellFormed applies the schema of the request's version to tree. An error
// that is no status says why tree is not an object of this kind.
func (t Target) wellFormed(tree map[string]any, duplicates []string, o WriteOptions) error {
	if meta, ok := tree["metadata"]; ok && meta == nil {
		delete(tree, "metadata")
	}
	unknown, err := t.Version.Shape.FromClient(tree, o.FieldValidation != validationIgnore)
	if err != nil {
		return err
	}
	problems := slices.Concat(duplicates, unknown)
	if len(problems) == 0 || o.FieldValidation == validationIgnore {
		return nil
	}
	if len(problems) > maxStrictErrors {
		problems = problems[:maxStrictErrors]
	}
	if o.FieldValidation == validationStrict {
		return fmt.Errorf("strict decoding error: %s", strings.Join(problems, ", "))
	}
	if o.Warn != nil {
		for _, p := range problems {
			o.Warn(p)
		}
	}
	return nil
}

// checkKind compares apiVersion and kind with those of the request's path.
func (t Target) checkKind(tree map[string]any, body []byte) error {
	kind, _ := tree["kind"].(string)
	if kind == "" {
		return apierrors.NewBadRequest(runtime.NewMissingKindErr(excerpt(body)).Error())
	}
	apiVersion, _ := tree["apiVersion"].(string)
	if apiVersion == "" {
		return apierrors.NewBadRequest(runtime.NewMissingVersionErr(excerpt(body)).Error())
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	want := t.Resource.Def.APIVersion(t.Version.Name)
	if gv.Group != t.Resource.Def.Group || gv.Version != t.Version.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", apiVersion, want))
	}
	if kind != t.Resource.Def.Kind && t.Version.Typed == nil {
		meta, _ := tree["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		return apierrors.NewInvalid(schema.GroupKind{Group: gv.Group, Kind: kind}, name, field.ErrorList{
			field.Invalid(field.NewPath("kind"), kind, "must be "+t.Resource.Def.Kind),
		})
	}
	if kind != t.Resource.Def.Kind {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q", kind, gv.Version, t.Resource.Def.Kind, kind, apiVersion))
	}
	return nil
}

func excerpt(body []byte) string { return atMost(256, body) }

func atMost(n int, body []byte) string {
	if len(body) > n {
		return strings.ToValidUTF8(string(body[:n]), "") + "..."
	}
	return string(body)
}

// asUnstructured wraps a tree for the Kubernetes strategies. A tree without
// metadata gets an empty one.
func asUnstructured(tree map[string]any) *unstructured.Unstructured {
	if _, ok := tree["metadata"].(map[string]any); !ok {
		tree["metadata"] = map[string]any{}
	}
	return &unstructured.Unstructured{Object: tree}
}
