package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/refusals"
)

// TestBadInput sends what no client should: every request is refused with a
// Status in kube-apiserver's words, as recorded, nothing is stored, and the
// server goes on.
func TestBadInput(t *testing.T) {
	s := gatewaytest.Shared(t)
	api := s.API(t)
	recorded, err := refusals.Load(filepath.Join("..", "..", refusals.File))
	if err != nil {
		t.Fatal(err)
	}
	api.Post(namespacePath, object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": refusals.Namespace}}).Want(201, 409)
	api.Post(crdPath, refusals.Definition).Want(201, 409)
	t.Cleanup(func() {
		_, _ = api.Try("DELETE", crdPath+"/crontabs."+refusals.Group, nil)
		if !s.External { // nobody finishes the deletion of a namespace of a bare kube-apiserver
			_, _ = api.Try("DELETE", namespacePath+"/"+refusals.Namespace, nil)
		}
	})
	api.Eventually(refusals.CronTabs, func(r *gatewaytest.Reply) bool { return r.Code == 200 })
	api.Post(refusals.CronTabs, refusals.There).Want(201, 409)
	before := api.Get(refusals.CronTabs + "/there").Want(200).Object().RV()
	requests := refusals.Requests()
	if len(requests) != len(recorded) {
		t.Errorf("%d requests, and %d recorded replies", len(requests), len(recorded))
	}
	for _, r := range requests {
		t.Run(r.Name, func(t *testing.T) {
			want, ok := recorded[r.Name]
			if !ok {
				t.Fatal("its reply is not recorded")
			}
			if r.Own != nil && !s.External {
				want = *r.Own
			}
			sendRefused(t, s, r, want)
		})
	}
	if after := api.Get(refusals.CronTabs + "/there").Want(200).Object().RV(); after != before {
		t.Errorf("a refused request changed an object: %s, was %s", after, before)
	}
	api.Get(refusals.CronTabs + "/x").Want(404)
	api.Get("/readyz").Want(200)
}

// sendRefused sends one request and compares the Status.
func sendRefused(t *testing.T, s *gatewaytest.Server, r refusals.Request, want refusals.Reply) {
	t.Helper()
	var headers []string
	var body any
	if r.Type != "" {
		headers, body = []string{"Content-Type", r.Type}, r.Body
	}
	reply := s.API(t).Do(r.Method, r.Path, body, headers...).WantStatus(want.Code, metav1.StatusReason(want.Reason))
	if got := reply.Str("message"); got != want.Message {
		t.Errorf("message\n%s\nwant\n%s", got, want.Message)
	}
}

func TestTooLarge(t *testing.T) {
	c := newCronTabs(t, gatewaytest.Shared(t), nil)
	c.run("a body above the limit", func(t *testing.T, c *cronTabs) {
		o := c.object("v1", "big", `{}`)
		o.Set("spec.host", strings.Repeat("x", 4<<20))
		c.api.Post(c.list("v1"), o).WantStatus(413, "RequestEntityTooLarge", "limit is 3145728")
	})
	c.run("an object that etcd cannot take", func(t *testing.T, c *cronTabs) {
		o := c.object("v1", "big", `{}`)
		o.Set("spec.host", strings.Repeat("x", 2<<20))
		r := c.api.Post(c.list("v1"), o).Want(413, 500)
		if !c.s.External { // kube-apiserver calls it an error of its own
			r.WantStatus(413, "RequestEntityTooLarge", "the object is too large to be stored")
		}
	})
	c.api.Get(c.path("v1", "big")).Want(404)
	c.api.Post(c.list("v7"), c.object("v7", "x", `{}`)).Want(404)
}
