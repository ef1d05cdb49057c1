package custom

import (
	"context"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

var fooKind = schema.GroupKind{Group: "example.com", Kind: "Foo"}

func fooVersion(t testing.TB, openAPISchema string, status bool) *crd.Version {
	t.Helper()
	c := definition(t, "Foo", one(openAPISchema))
	if status {
		c.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	return compile(t, c).Versions[0]
}

// foo is an object e with those fields, given as the inside of a JSON object.
func foo(t testing.TB, fields string) *unstructured.Unstructured {
	t.Helper()
	s := `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e","namespace":"default","resourceVersion":"1"}`
	if fields != "" {
		s += "," + fields
	}
	return &unstructured.Unstructured{Object: parse(t, s+"}")}
}

func asError(errs field.ErrorList) string {
	if len(errs) == 0 {
		return ""
	}
	return apierrors.NewInvalid(fooKind, "e", errs).Error()
}

// TestValidate compares with the replies of kube-apiserver.
func TestValidate(t *testing.T) {
	const isInvalid = `Foo.example.com "e" is invalid: `
	for _, c := range []struct{ name, schema, fields, want string }{
		{"FV-01 wrong type", `{type: object, properties: {a: {type: string}}}`, `"a":1`,
			isInvalid + `a: Invalid value: "integer": a in body must be of type string: "integer"`},
		{"FV-01 required", `{type: object, required: [a], properties: {a: {type: string}}}`, ``, isInvalid + `a: Required value`},
		{"CRD-05 enum", `{type: object, properties: {a: {type: string, enum: [x, z9]}}}`, `"a":"z"`,
			isInvalid + `a: Unsupported value: "z": supported values: "x", "z9"`},
		{"CRD-05 bounds", `{type: object, properties: {a: {type: integer, maximum: 5}}}`, `"a":6`,
			isInvalid + `a: Invalid value: 6: a in body should be less than or equal to 5`},
		{"list of map", `{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}}}`,
			`"a":[{"k":"x"},{"k":"x"}]`, isInvalid + `a[1]: Duplicate value: {"k":"x"}`},
		{"CEL-01 message", `{type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "self.a > 3", message: too small}]}`, `"a":1`,
			isInvalid + `<nil>: Invalid value: too small`},
		{"CEL-01 messageExpression", `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "self > 3", messageExpression: "string(self) + ' is too small'"}]}}}`, `"a":1`,
			isInvalid + `a: Invalid value: 1 is too small`},
		{"CEL-01 holds", `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "self > 3"}]}}}`, `"a":4`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := fooVersion(t, c.schema, false)
			if got := asError(v.Strategy.Validate(context.Background(), foo(t, c.fields), nil).Errors); !matches(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// matches compares errors; CEL errors print the value in front of the message.
func matches(got, want string) bool {
	if got == want {
		return true
	}
	head, tail, ok := strings.Cut(want, "Invalid value: ")
	return ok && strings.HasPrefix(got, head+"Invalid value: ") && strings.HasSuffix(got, ": "+tail)
}

func TestValidate_kind(t *testing.T) {
	v := fooVersion(t, `{type: object}`, false)
	obj := foo(t, "")
	obj.SetKind("Bar")
	if got := asError(v.Strategy.Validate(context.Background(), obj, nil).Errors); got != `Foo.example.com "e" is invalid: kind: Invalid value: "Bar": must be Foo` {
		t.Errorf("got %s", got)
	}
}

func TestValidateUpdate_CEL01(t *testing.T) {
	v := fooVersion(t, `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "self >= oldSelf", message: must not shrink}]}, b: {type: string, maxLength: 1}}}`, false)
	ctx := context.Background()
	if got := asError(v.Strategy.Validate(ctx, foo(t, `"a":1`), foo(t, `"a":2`)).Errors); !strings.HasSuffix(got, ": must not shrink") {
		t.Errorf("got %s", got)
	}
	if got := asError(v.Strategy.Validate(ctx, foo(t, `"a":3`), foo(t, `"a":2`)).Errors); got != "" {
		t.Errorf("got %s", got)
	}
	// Ratcheting: what was invalid before and did not change is forgiven.
	if got := asError(v.Strategy.Validate(ctx, foo(t, `"a":3,"b":"long"`), foo(t, `"a":2,"b":"long"`)).Errors); got != "" {
		t.Errorf("unchanged: got %s", got)
	}
	if got := asError(v.Strategy.Validate(ctx, foo(t, `"a":3,"b":"longer"`), foo(t, `"a":2,"b":"long"`)).Errors); got == "" {
		t.Error("changed, but forgiven")
	}
}

func TestPrepare(t *testing.T) {
	const schema = `{type: object, properties: {spec: {type: object, properties: {a: {type: integer}}}, status: {type: object, properties: {s: {type: string}}}}}`
	v := fooVersion(t, schema, true)
	ctx := context.Background()
	obj := foo(t, `"spec":{"a":1},"status":{"s":"x"}`)
	v.Strategy.Prepare(ctx, obj, nil)
	if _, ok := obj.Object["status"]; ok || obj.GetGeneration() != 1 {
		t.Errorf("created: %s", text(obj.Object))
	}
	next := obj.DeepCopy()
	next.Object["status"] = map[string]any{"s": "x"}
	next.Object["spec"] = map[string]any{"a": int64(2)}
	byStatus := next.DeepCopy()
	v.Strategy.Prepare(ctx, next, obj)
	if _, ok := next.Object["status"]; ok || next.GetGeneration() != 2 {
		t.Errorf("updated: %s", text(next.Object))
	}
	v.Subresources["status"].Update.Prepare(ctx, byStatus, obj)
	if text(byStatus.Object["status"]) != `{"s":"x"}` || text(byStatus.Object["spec"]) != `{"a":1}` || byStatus.GetGeneration() != 1 {
		t.Errorf("status updated: %s", text(byStatus.Object))
	}
	byStatus.Object["status"] = map[string]any{"s": int64(1)}
	if got := asError(v.Subresources["status"].Update.Validate(ctx, byStatus, obj).Errors); !strings.Contains(got, "status.s: Invalid value") {
		t.Errorf("got %s", got)
	}
}

func TestScale_validation(t *testing.T) {
	c := definition(t, "Foo", one(`{type: object, x-kubernetes-preserve-unknown-fields: true}`))
	c.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{
		Scale: &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
	}
	v := compile(t, c).Versions[0]
	got := asError(v.Strategy.Validate(context.Background(), foo(t, `"spec":{"replicas":-1}`), nil).Errors)
	if got != `Foo.example.com "e" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer` {
		t.Errorf("got %s", got)
	}
}

// What is prepared of a change of the status is what the library prepares.
func TestPreparedStatusesAreTheLibrarys(t *testing.T) {
	v := fooVersion(t, `{type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`, true)
	_, library := partsOf(t, v).library()
	states := []string{``, `"spec":{"a":[1]}`, `"spec":{"a":[2]},"status":{"s":1}`, `"status":{"s":{"t":2}}`, `"status":null,"other":1`}
	for _, now := range states {
		for _, was := range states {
			want, old := foo(t, now), foo(t, was)
			want.SetLabels(map[string]string{"l": "now"})
			want.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m", Operation: "Update", APIVersion: "example.com/v1"}})
			old.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "other"}})
			if now == "" {
				want.SetManagedFields(nil)
			}
			got := want.DeepCopy()
			library.PrepareForUpdate(context.Background(), want, old)
			before := old.DeepCopy()
			v.Subresources["status"].Update.Prepare(context.Background(), got, old)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s after %s:\n%v\nthe library's\n%v", now, was, got, want)
			}
			got.SetGeneration(9)
			got.SetLabels(map[string]string{"l": "later"})
			if !reflect.DeepEqual(old, before) {
				t.Errorf("%s after %s: the state before was changed", now, was)
			}
		}
	}
}
