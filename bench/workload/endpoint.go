package workload

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Group is the API group of the objects, and Definition the name of their
// definition.
const (
	Group      = "bench.example.com"
	Definition = "endpoints." + Group
)

// Collection is where the objects are; v1 is stored (spec.hostPort), v2
// converted (spec.host, spec.port).
func Collection(version string) string {
	return "/apis/" + Group + "/" + version + "/namespaces/default/endpoints"
}

// Path is where one of the objects is.
func Path(version string, i int) string { return Collection(version) + "/ep-" + strconv.Itoa(i) }

// Object is an object of about 1.2 KB at v1: labels, annotations, a list of two
// containers, as such objects have; and as many containers more.
func Object(i, more int) []byte {
	n := strconv.Itoa(i)
	return []byte(`{"apiVersion":"` + Group + `/v1","kind":"Endpoint","metadata":{"name":"ep-` + n + `","namespace":"default",` +
		`"labels":{"app":"app-` + strconv.Itoa(i%50) + `","tier":"backend","env":"prod"},` +
		`"annotations":{"example.com/owner":"team-` + strconv.Itoa(i%7) + `@example.com","example.com/note":"` + strings.Repeat("n", 120) + `"}},` +
		`"spec":{"hostPort":"host-` + n + `.example.com:8080","replicas":3,"paused":false,"tags":["a","b","c","d"],"containers":[` +
		`{"name":"main","image":"registry.example.com/app:v1.2.3","env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"C","value":"3"}],` +
		`"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"64Mi"}}},` +
		`{"name":"sidecar","image":"registry.example.com/sidecar:v0.9","env":[{"name":"X","value":"` + strings.Repeat("y", 300) + `"}]}` + containers(more) + `],` +
		`"selector":{"app":"app-` + strconv.Itoa(i%50) + `"}}}`)
}

// Fat is one of about 300 KB, most of it a list of texts.
func Fat(i int) []byte {
	texts := strings.Repeat(`"`+strings.Repeat("t", 27)+`",`, 10_000)
	return bytes.Replace(Object(i, 0), []byte(`"tags":[`), []byte(`"tags":[`+texts), 1)
}

func containers(more int) string {
	var b strings.Builder
	for n := range more {
		fmt.Fprintf(&b, `,{"name":"more-%d","image":"registry.example.com/more:v%d","env":[{"name":"A","value":"1"}]}`, n, n)
	}
	return b.String()
}

// Configuration is what one manager applies of an object.
func Configuration(i int, tag string) []byte {
	n := strconv.Itoa(i)
	return []byte(`{"apiVersion":"` + Group + `/v1","kind":"Endpoint","metadata":{"name":"ep-` + n + `"},` +
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

// CRD is the CustomResourceDefinition; clientConfig is JSON, empty for
// strategy None.
func CRD(clientConfig string) []byte {
	conversion := `{"strategy":"None"}`
	if clientConfig != "" {
		conversion = `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":` + clientConfig + `}}`
	}
	return []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + Definition + `"},` +
		`"spec":{"group":"` + Group + `","scope":"Namespaced","names":{"plural":"endpoints","singular":"endpoint","kind":"Endpoint","listKind":"EndpointList"},` +
		`"conversion":` + conversion + `,"versions":[` +
		`{"name":"v1","served":true,"storage":true,"schema":` + schema(`"hostPort":{"type":"string"}`) + `},` +
		`{"name":"v2","served":true,"storage":false,"schema":` + schema(`"host":{"type":"string"},"port":{"type":"string"}`) + `}]}}`)
}
