package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

const (
	group    = "bench.example.com"
	plural   = "endpoints." + group
	crdPath  = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	jsonType = "application/json"
	merge    = "application/merge-patch+json"

	applyPatch = "application/apply-patch+yaml"
)

// collection is where the objects are; v1 is stored (spec.hostPort), v2
// converted (spec.host, spec.port).
func collection(version string) string {
	return "/apis/" + group + "/" + version + "/namespaces/default/endpoints"
}

func path(version string, i int) string { return collection(version) + "/ep-" + strconv.Itoa(i) }

// body is an object of about 1.2 KB at v1: labels, annotations, a list of two
// containers, as such objects have; and as many containers more.
func body(i, more int) []byte {
	n := strconv.Itoa(i)
	return []byte(`{"apiVersion":"` + group + `/v1","kind":"Endpoint","metadata":{"name":"ep-` + n + `","namespace":"default",` +
		`"labels":{"app":"app-` + strconv.Itoa(i%50) + `","tier":"backend","env":"prod"},` +
		`"annotations":{"example.com/owner":"team-` + strconv.Itoa(i%7) + `@example.com","example.com/note":"` + strings.Repeat("n", 120) + `"}},` +
		`"spec":{"hostPort":"host-` + n + `.example.com:8080","replicas":3,"paused":false,"tags":["a","b","c","d"],"containers":[` +
		`{"name":"main","image":"registry.example.com/app:v1.2.3","env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"C","value":"3"}],` +
		`"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"64Mi"}}},` +
		`{"name":"sidecar","image":"registry.example.com/sidecar:v0.9","env":[{"name":"X","value":"` + strings.Repeat("y", 300) + `"}]}` + containers(more) + `],` +
		`"selector":{"app":"app-` + strconv.Itoa(i%50) + `"}}}`)
}

func containers(more int) string {
	var b strings.Builder
	for n := range more {
		fmt.Fprintf(&b, `,{"name":"more-%d","image":"registry.example.com/more:v%d","env":[{"name":"A","value":"1"}]}`, n, n)
	}
	return b.String()
}

// configuration is what one manager applies of an object.
func configuration(i int, tag string) []byte {
	n := strconv.Itoa(i)
	return []byte(`{"apiVersion":"` + group + `/v1","kind":"Endpoint","metadata":{"name":"ep-` + n + `"},` +
		`"spec":{"paused":true,"containers":[{"name":"main","image":"registry.example.com/app:` + tag + n + `"}]}}`)
}

const quantities = `{"type":"object","additionalProperties":{"x-kubernetes-int-or-string":true}}`

// schema is one version's, with the fields that differ put first.
func schema(fields string) string {
	return `{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{` + fields + `,` +
		`"replicas":{"type":"integer"},"paused":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},` +
		`"selector":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"containers":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{` +
		`"name":{"type":"string"},"image":{"type":"string"},` +
		`"env":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}}}},` +
		`"resources":{"type":"object","properties":{"limits":` + quantities + `,"requests":` + quantities + `}}}}}}}}}}`
}

// definition is the CustomResourceDefinition; clientConfig is JSON, empty for
// strategy None.
func definition(clientConfig string) []byte {
	conversion := `{"strategy":"None"}`
	if clientConfig != "" {
		conversion = `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":` + clientConfig + `}}`
	}
	return []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + plural + `"},` +
		`"spec":{"group":"` + group + `","scope":"Namespaced","names":{"plural":"endpoints","singular":"endpoint","kind":"Endpoint","listKind":"EndpointList"},` +
		`"conversion":` + conversion + `,"versions":[` +
		`{"name":"v1","served":true,"storage":true,"schema":` + schema(`"hostPort":{"type":"string"}`) + `},` +
		`{"name":"v2","served":true,"storage":false,"schema":` + schema(`"host":{"type":"string"},"port":{"type":"string"}`) + `}]}}`)
}

// prepare gives a target the definition and its converter, and waits until
// both versions are served.
func prepare(c config, t *target) error {
	if err := t.wait("/readyz", 200); err != nil {
		return err
	}
	t.idle = t.usage().rss
	if _, _, err := t.do("DELETE", crdPath+"/"+plural, "", "", nil); err != nil {
		return err
	}
	if err := t.wait(crdPath+"/"+plural, 404); err != nil {
		return err
	}
	clientConfig, err := converter(c, t)
	if err != nil {
		return err
	}
	if _, _, err := t.do("POST", "/api/v1/namespaces", jsonType, "", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`)); err != nil {
		return err
	}
	if err := t.ok("POST", crdPath, jsonType, "", definition(clientConfig)); err != nil {
		return err
	}
	for _, v := range []string{"v1", "v2"} {
		if err := t.wait(collection(v), 200); err != nil {
			return err
		}
	}
	t.before = t.usage().rss
	return check(t)
}

// check makes sure that the objects convert at all: without that the numbers
// mean nothing.
func check(t *target) error {
	if err := t.ok("POST", collection("v1"), jsonType, jsonType, body(-1, 0)); err != nil {
		return err
	}
	defer t.do("DELETE", path("v1", -1), "", "", nil)
	_, reply, err := t.do("GET", path("v2", -1), "", jsonType, nil)
	if err != nil {
		return err
	}
	var o struct {
		APIVersion string
		Spec       struct{ Host, HostPort string }
	}
	if err := json.Unmarshal(reply, &o); err != nil || o.APIVersion != group+"/v2" {
		return fmt.Errorf("no object at v2: %v %.300s", err, reply)
	}
	return nil
}
