package write

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/quantity"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/patch"
)

// decodeBody reads an object that a client sent: its tree, well-formed by the
// version's schema, with unknown and duplicate fields reported as the options
// ask. asSent tells that body is the tree's text.
func decodeBody(t resource.Target, body []byte, o resource.WriteOptions) (tree map[string]any, asSent bool, err error) {
	tree, duplicates, err := parseBody(body)
	if err != nil {
		return nil, false, t.Unrecognized(noKind(body, err), body)
	}
	problems := slices.Concat(o.Problems, duplicates)
	if err := checkKind(t, tree, body); err != nil {
		if unread := readElsewhere(t, tree, problems, body, o); unread != nil { // it is read before it is refused
			return nil, false, inVersion(t, tree, unread)
		}
		return nil, false, err
	}
	if asSent, err = wellRead(t, tree, problems, body, o); err != nil {
		return nil, false, err
	}
	return tree, asSent, nil
}

// readElsewhere reads an object that says to be of another version or kind than the
// request's, for what has to be said of its fields before it is refused. Of a version
// that the kind does not have no field is known, and of another kind's objects only
// what is wrong with the metadata. What has a Go type is read only where that is known.
func readElsewhere(t resource.Target, tree map[string]any, problems []string, body []byte, o resource.WriteOptions) error {
	apiVersion, ok := tree["apiVersion"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	kind, named := tree["kind"].(string)
	if !ok || err != nil || !named || kind == "" {
		return nil
	}
	if other, ok := atVersionOf(t, tree); ok {
		_, err := wellFormed(other, tree, problems, body, o)
		return err
	}
	if t.Version.Native() {
		return nil
	}
	bare := map[string]any{"apiVersion": t.Resource.Def.APIVersion(t.Version.Name), "kind": t.Resource.Def.Kind}
	if meta, ok := tree["metadata"]; ok && meta != nil {
		bare["metadata"] = object.CloneValue(meta)
	}
	unknown, err := t.Version.Shape.FromClient(bare, o.FieldValidation != metav1.FieldValidationIgnore)
	if err != nil {
		return err
	}
	if gv.Group == t.GVK().Group && kind == t.Resource.Def.Kind {
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			if name != "apiVersion" && name != "kind" && name != "metadata" {
				unknown = append(unknown, fmt.Sprintf("unknown field %q", name))
			}
		}
	}
	return o.Report(slices.Concat(problems, unknown))
}

// atVersionOf is the target at another version, which an object says that it is of.
func atVersionOf(t resource.Target, tree map[string]any) (resource.Target, bool) {
	apiVersion, _ := tree["apiVersion"].(string)
	v := t.Resource.Def.At(apiVersion)
	if v == nil || v == t.Version || tree["kind"] != t.Resource.Def.Kind {
		return t, false
	}
	t.Version = v
	return t, true
}

// wellRead makes what a client sent well-formed, or refuses it.
func wellRead(t resource.Target, tree map[string]any, problems []string, body []byte, o resource.WriteOptions) (asSent bool, err error) {
	if asSent, err = wellFormed(t, tree, problems, body, o); err != nil {
		return false, inVersion(t, tree, err)
	}
	return asSent, nil
}

// inVersion is the refusal of a tree that cannot be read as what it says to be.
func inVersion(t resource.Target, tree map[string]any, err error) error {
	if _, told := err.(apierrors.APIStatus); told {
		return err
	}
	kind, _ := tree["kind"].(string)
	apiVersion, _ := tree["apiVersion"].(string)
	_, version, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		version = apiVersion
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %s", kind, version, t.Resource.Def.Kind, err))
}

// noKind is why a body does not even tell its kind, in the words of
// kube-apiserver's library where it is JSON, but no object.
func noKind(body []byte, err error) error {
	if _, told := kubejson.DefaultMetaFactory.Interpret(body); told != nil && json.Valid(body) {
		return told
	}
	return fmt.Errorf("%s: %w", unreadable, err)
}

// parseBody reads a JSON object; null is one without fields.
func parseBody(body []byte) (tree map[string]any, duplicates []string, err error) {
	if string(bytes.TrimSpace(body)) == "null" {
		return map[string]any{}, nil, nil
	}
	return object.ParseObject(body)
}

// wellFormed applies the schema of the request's version to tree, of which body
// is the text where it was sent as one. An error that is no status says why tree
// is not an object of this kind. asSent tells of a large one that there was nothing to
// change.
func wellFormed(t resource.Target, tree map[string]any, duplicates []string, body []byte, o resource.WriteOptions) (asSent bool, err error) {
	if meta, ok := tree["metadata"]; ok && meta == nil {
		delete(tree, "metadata")
	}
	if object.Large(body) && t.Version.Shape.Canonical(tree) {
		return true, o.Report(duplicates)
	}
	unknown, err := t.Version.Shape.FromClient(tree, o.FieldValidation != metav1.FieldValidationIgnore)
	if err != nil {
		return false, err
	}
	problems := slices.Concat(duplicates, unknown)
	if len(problems) > 1 && body != nil && t.Version.Native() {
		problems = inOrderOf(body, t.Version.Typed(), o.Problems, problems)
	}
	return false, o.Report(problems)
}

// inOrderOf are the problems with a body as they are found where it is read into a Go
// type in one pass: in the order of the text, after those that were found before. Where
// that would take too long they are as they were.
func inOrderOf(body []byte, typed runtime.Object, before, problems []string) []string {
	if quantity.CheckText(body, reflect.TypeOf(typed)) != nil {
		return problems
	}
	if found := object.Problems(body, typed); found != nil {
		return slices.Concat(before, found)
	}
	return problems
}

// unreadable starts the message about a body that is no JSON object.
const unreadable = "couldn't get version/kind; json parse error"

// checkKind compares apiVersion and kind with those of the request's path. An
// object of a built-in kind need not have them: the typed clients of most
// languages never send them, so they are filled in.
func checkKind(t resource.Target, tree map[string]any, body []byte) error {
	kind, err := textField(tree, "kind")
	if err != nil {
		return t.Unrecognized(err, body)
	}
	apiVersion, err := textField(tree, "apiVersion")
	if err != nil {
		return t.Unrecognized(err, body)
	}
	want := t.Resource.Def.APIVersion(t.Version.Name)
	if t.Version.Native() {
		if kind == "" {
			kind = t.Resource.Def.Kind
		}
		if apiVersion == "" {
			apiVersion = want
		}
		tree["kind"], tree["apiVersion"] = kind, apiVersion
	}
	if kind == "" {
		return t.Unrecognized(runtime.NewMissingKindErr(shown(body)), body)
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return t.Unrecognized(err, body)
	}
	if t.Version.Native() {
		return checkTyped(t, gv, kind, apiVersion)
	}
	if gv != t.GVK().GroupVersion() {
		return otherVersion(t, apiVersion)
	}
	if kind != t.Resource.Def.Kind {
		meta, _ := tree["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		return apierrors.NewInvalid(schema.GroupKind{Group: gv.Group, Kind: kind}, name, field.ErrorList{
			field.Invalid(field.NewPath("kind"), kind, "must be "+t.Resource.Def.Kind),
		})
	}
	return nil
}

func otherVersion(t resource.Target, apiVersion string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", apiVersion, t.Resource.Def.APIVersion(t.Version.Name)))
}

// checkTyped does so for a kind that has a Go type.
func checkTyped(t resource.Target, gv schema.GroupVersion, kind, apiVersion string) error {
	if gv.WithKind(kind) == t.GVK() {
		return nil
	}
	if kind == t.Resource.Def.Kind && t.Resource.Def.At(gv.String()) != nil {
		return otherVersion(t, apiVersion)
	}
	return t.OfOtherKind(kind, apiVersion)
}

// textField is a text of the tree, empty when it is absent or null.
func textField(tree map[string]any, name string) (string, error) {
	switch v := tree[name].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("%s: json: cannot unmarshal %s into Go struct field .%s of type string", unreadable, patch.JSONType(v), name)
	}
}

func shown(body []byte) string { return atMost(256, body) }

func atMost(n int, body []byte) string {
	if len(body) > n {
		return strings.ToValidUTF8(excerpt.Of(string(body), n), "")
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
