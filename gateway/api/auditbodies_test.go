package api

import (
	"fmt"
	"strings"
	"testing"
)

// What is kept of a request is what its level says: nothing, no bodies, what was sent,
// or what is answered, too; in JSON, whatever it was.
func TestBodiesAreKeptAsTheLevelSays(t *testing.T) {
	kept := &audits{keep: &Keep{}}
	w := newWorld(t, func(c *Setup) { c.Auditor = kept })
	stages := func(level Level) string {
		t.Helper()
		var out []string
		for _, a := range kept.all {
			if a.Level != level || a.Request.Body != nil || a.Request.Authorization != "" {
				t.Errorf("%+v", a)
			}
			out = append(out, fmt.Sprintf("%s %d %s > %s", a.Stage, a.Code, a.Sent, a.Replied))
		}
		kept.all, kept.keep.Level = nil, level
		return strings.Join(out, "\n")
	}
	at := func(level Level) { kept.keep = &Keep{Level: level, ByPolicy: true}; kept.all = nil }
	const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made\n"

	at(KeepNone)
	w.do("POST", configMaps, configMap("none", "v")).want(201, "")
	if got := stages(KeepNone); got != "" {
		t.Error(got)
	}
	at(KeepMetadata)
	w.do("GET", configMaps+"/none", "").want(200, "")
	if got := stages(KeepMetadata); got != "RequestReceived 0  > \nResponseComplete 200  > " {
		t.Error(got)
	}
	at(KeepRequest)
	w.do("POST", configMaps, yaml, "Content-Type: application/yaml").want(201, "")
	if got := stages(KeepRequest); got != "RequestReceived 0  > \n"+`ResponseComplete 201 {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"made"}} > ` {
		t.Error(got)
	}
	at(KeepResponse)
	for _, accept := range []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json;as=Table;v=v1;g=meta.k8s.io"} {
		w.do("GET", configMaps+"/made", "", "Accept: "+accept).want(200, "")
		w.do("GET", configMaps+"?limit=1", "", "Accept: "+accept).want(200, "")
		got := stages(KeepResponse)
		if strings.Count(got, `{"kind":`)+strings.Count(got, `{"apiVersion":"v1",`) < 2 || !strings.Contains(got, `"name":"made"`) || !strings.Contains(got, `"continue":`) {
			t.Errorf("%s: %s", accept, got)
		}
	}
	w.do("DELETE", configMaps+"/made", `{"kind":"DeleteOptions","apiVersion":"v1"}`).want(200, "")
	if got := stages(KeepResponse); !strings.Contains(got, `200 {"kind":"DeleteOptions","apiVersion":"v1"} > {"kind":"Status"`) {
		t.Error(got)
	}
	w.do("GET", configMaps+"/made", "").want(404, "")
	if got := stages(KeepResponse); !strings.Contains(got, `> {"kind":"Status"`) {
		t.Error(got)
	}
}

// A request that cannot be kept is refused when it comes, if that is asked for.
func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	kept := &audits{keep: &Keep{Level: KeepMetadata, ByPolicy: true}}
	w := newWorld(t, func(c *Setup) { c.Auditor = kept })
	kept.full = true
	w.do("POST", configMaps, configMap("one", "v")).want(500, "failed to store audit event")
	kept.full = false
	w.do("GET", configMaps+"/one", "").want(404, "")
}

// Who is not known has one event, of a reply that began.
func TestWhoIsNotKnownIsKept(t *testing.T) {
	kept := &audits{keep: &Keep{Level: KeepResponse, ByPolicy: true}}
	w := newWorld(t, func(c *Setup) { c.Auditor = kept })
	kept.all = nil
	w.do("GET", configMaps, "", "Authorization: Bearer nobody").want(401, "")
	if len(kept.all) != 1 || kept.all[0].Stage != Started || kept.all[0].User != nil || len(kept.all[0].Replied) == 0 {
		t.Errorf("%+v", kept.all)
	}
}
