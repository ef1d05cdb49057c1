package api

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// audits keeps records, by default of the metadata of all requests that were answered.
type audits struct {
	all  []*Audit
	keep *Keep
	full bool
}

func (a *audits) Judge(*Info, *authn.User) Keep {
	if a.keep != nil {
		return *a.keep
	}
	return Keep{Level: KeepMetadata, Omit: Stages(0).With(Received)}
}

func (a *audits) Audit(one *Audit) bool {
	a.all = append(a.all, one)
	return !a.full
}

// Every request has one record, a watch one more, with what is noteworthy.
func TestAudit_VER06(t *testing.T) {
	kept := &audits{}
	w := newWorld(t, func(c *Setup) { c.Auditor, c.UnsafeDeletion = kept, true })
	last := func(code int) *Audit {
		t.Helper()
		if len(kept.all) != 1 || kept.all[0].Code != code {
			t.Fatalf("%d records: %+v", len(kept.all), kept.all)
		}
		one := kept.all[0]
		kept.all = nil
		if one.Request.Authorization != "" || one.Request.Body != nil || one.Request.ReadBody != nil || one.At.Before(one.Received) {
			t.Errorf("%+v", one)
		}
		return one
	}
	said := func(a *Audit) string {
		text, err := json.Marshal(a.Annotations)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	kept.all = nil
	const allow = `"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""`
	w.do("POST", configMaps, configMap("one", "v")).want(201, "")
	if a := last(201); a.User.Name != "admin" || a.Impersonated != nil || a.Info.Verb != "create" || a.Info.Plural != "configmaps" || a.Status != nil || said(a) != "{"+allow+"}" {
		t.Errorf("%+v %s", a, said(a))
	}
	w.do("GET", configMaps+"/none?pretty=1", "").want(404, "")
	if a := last(404); !strings.Contains(string(a.Status), `"reason":"NotFound"`) || a.Request.Query != "pretty=1" {
		t.Errorf("%+v %s", a, a.Status)
	}
	w.do("GET", configMaps, "", "Authorization: Bearer bob").want(403, "")
	if a := last(403); a.User.Name != "bob" || said(a) != `{"authorization.k8s.io/decision":"forbid","authorization.k8s.io/reason":""}` {
		t.Errorf("%+v %s", a, said(a))
	}
	w.do("GET", configMaps, "", "Authorization: Bearer nobody").want(401, "")
	if a := last(401); a.User != nil || a.Annotations != nil {
		t.Errorf("%+v", a)
	}
	r := request("GET", configMaps, "")
	r.Impersonate = &Impersonation{User: "ann"}
	w.Serve(r)
	if a := last(403); a.User.Name != "admin" || a.Impersonated.Name != "ann" || a.Constraint != "impersonate:user-info" {
		t.Errorf("%+v", a)
	}
	w.do("DELETE", configMaps+"/one", "{"+unsafeOption+"}").want(422, "")
	if a := last(422); said(a) != `{"apiserver.k8s.io/unsafe-delete-ignore-read-error":"",`+allow+"}" {
		t.Errorf("%s", said(a))
	}
	w.do("GET", "/panic", "").want(500, "")
	if a := last(500); a.Stage != Panicked || a.Panic == "" {
		t.Errorf("%+v", a)
	}
	f := w.watch(t, configMaps+"?watch=1", nil)
	f.want("ADDED", "one")
	if a := last(200); a.Stage != Started {
		t.Errorf("%+v", a)
	}
	f.end()
	<-f.ended
	if a := last(200); a.Stage != Complete || a.Info.Verb != "watch" {
		t.Errorf("%+v", a)
	}
}

// Whoever may ask for a deprecated version is told, and counted, whatever comes
// of it.
func TestDeprecatedVersions_VER05_VER06_VER07(t *testing.T) {
	kept := &audits{}
	w := newWorld(t, func(c *Setup) { c.Auditor = kept })
	const endpoints = "/api/v1/namespaces/default/endpoints"
	for _, path := range []string{endpoints, endpoints + "/none"} {
		r := w.do("GET", path, "")
		if got := r.header("Warning"); got != `299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"` {
			t.Errorf("%s: %q", path, got)
		}
	}
	w.do("GET", endpoints, "", "Authorization: Bearer bob").want(403, "")
	w.do("GET", configMaps, "").want(200, "")
	if got := w.observed.deprecated; !slices.Equal(got, []string{"/v1/endpoints/ ", "/v1/endpoints/ "}) {
		t.Errorf("counted %q", got)
	}
	var marked []bool
	for _, a := range kept.all[len(kept.all)-4:] {
		marked = append(marked, a.Annotations["k8s.io/deprecated"] == "true")
	}
	if !slices.Equal(marked, []bool{true, true, false, false}) {
		t.Errorf("records %v", marked)
	}
}

// aHead is the head of a request.
type aHead http.Header

func (h aHead) Header() http.Header { return http.Header(h) }

// A record may wait for long after its request was answered: it holds nothing that is the
// connection's, nor a head with what the client showed.
func TestAudit_RecordsOutlastRequests(t *testing.T) {
	kept := &audits{}
	w := newWorld(t, func(c *Setup) { c.Auditor = kept })
	r := request("GET", widgets, "")
	r.Context, r.Head = t.Context(), aHead{"Authorization": {"Bearer admin"}}
	r.Connection = bounds.NewConnections(bounds.ConnectionLimits{}).Open(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)})
	w.serve(r).want(200, "")
	if one := kept.all[len(kept.all)-1].Request; one.Context != nil || one.Head != nil || one.Connection != nil || one.ClientCerts != nil {
		t.Errorf("%+v", one)
	}
}
