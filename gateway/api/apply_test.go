package api

import (
	"context"
	"errors"
	"testing"

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
	allowed := w.Handler.Authorizer
	w.Handler.Authorizer = changers{}
	w.do("PATCH", widgets+"/there?fieldManager=n", config("there"), form).want(200, `"manager":"n"`)
	w.do("PATCH", widgets+"/absent?fieldManager=m", config("absent"), form).want(403, `widgets.example.com \"absent\" is forbidden: who changes does not create`)
	const lease = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"absent"}}`
	w.do("PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/absent", lease).want(403, `leases.coordination.k8s.io \"absent\" is forbidden`)
	w.Handler.Authorizer = changers{errors.New("nobody knows")}
	w.do("PATCH", widgets+"/absent?fieldManager=m", config("absent"), form).want(500, "nobody knows")
	w.Handler.Authorizer = allowed
	w.do("GET", widgets+"/absent", "").want(404, "")
	w.do("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/absent", "").want(404, "")
}
