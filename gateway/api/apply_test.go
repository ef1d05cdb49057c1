package api

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// changers may do everything but create.
type changers struct{ err error }

func (a changers) Authorize(_ context.Context, at authz.Attributes) (bool, string, error) {
	if at.Verb != "create" {
		return true, "", nil
	}
	return false, "who changes does not create", a.err
}

// Who may patch may apply to what is there; for what is not, creation has to be
// allowed, too. So it is with a PUT that creates.
func TestApplyThatCreatesIsACreation_SSA30(t *testing.T) {
	w := newWorld(t)
	const form = "Content-Type: application/apply-patch+yaml"
	config := func(name string) string {
		return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"},"spec":{"size":5}}`
	}
	w.do("PATCH", widgets+"/there?fieldManager=m", config("there"), form).want(201, `"size":5`)
	allowed := w.asked.Authorizer
	w.asked.Authorizer = changers{}
	w.do("PATCH", widgets+"/there?fieldManager=n", config("there"), form).want(200, `"manager":"n"`)
	w.do("PATCH", widgets+"/absent?fieldManager=m", config("absent"), form).want(403, `widgets.example.com \"absent\" is forbidden: User \"admin\" cannot create resource \"widgets\" in API group \"example.com\" in the namespace \"default\": who changes does not create`)
	const lease = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"absent"}}`
	w.do("PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/absent", lease).want(403, `leases.coordination.k8s.io \"absent\" is forbidden: User \"admin\" cannot create resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"default\"`)
	w.asked.Authorizer = changers{errors.New("nobody knows")}
	w.do("PATCH", widgets+"/absent?fieldManager=m", config("absent"), form).want(500, "nobody knows")
	w.asked.Authorizer = allowed
	w.do("GET", widgets+"/absent", "").want(404, "")
	w.do("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/absent", "").want(404, "")
}

// Keys that a configuration repeats are told one by one, or in one refusal.
func TestApplyTellsOfRepeatedKeys_FV04_FV05(t *testing.T) {
	w := newWorld(t)
	const form = "Content-Type: application/apply-patch+yaml"
	const twice = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: one\n  name: one\nspec:\n  size: 4\n  size: 5\n"
	got := w.do("PATCH", widgets+"/one?fieldManager=m", twice, form).want(201, `"size":5`)
	want := []reply.Header{{Name: "Warning", Value: `299 - "line 5: key \"name\" already set in map"`}, {Name: "Warning", Value: `299 - "line 8: key \"size\" already set in map"`}}
	if len(got.Headers) != 3 || !slices.Equal(got.Headers[:2], want) { // the third is Audit-Id
		t.Errorf("%v", got.Headers)
	}
	w.do("PATCH", widgets+"/one?fieldManager=m&fieldValidation=Strict", twice, form).
		want(400, `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 5: key \"name\" already set in map\n  line 8: key \"size\" already set in map`)
}
