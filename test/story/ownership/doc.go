// Package ownership owns stories of several writers and one object, and what
// kube-apiserver makes of them: who owns which field after each request, and
// which requests conflict. The program in test/cmd/record tells them
// to a kube-apiserver and writes down what it answers; the tests of package e2e
// tell them to a gateway and compare.
//
// It knows requests and replies as text, and must not know how either server
// comes to its answer.
package ownership

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Reply is a server's answer without what differs from run to run.
type Reply struct {
	Code int `json:"code"`
	// Body is the object, or the Status of a refusal.
	Body map[string]any `json:"body"`
}

// NewReply takes from the body of an answer what no two servers, and no two
// moments, share: uids, revisions, times, objects that messages quote, the order
// of managers, which depends on the times, and that of causes.
func NewReply(code int, body []byte) (Reply, error) {
	r := Reply{Code: code}
	if err := json.Unmarshal(body, &r.Body); err != nil {
		return r, fmt.Errorf("%d %.300s: %w", code, body, err)
	}
	shorten(r.Body)
	meta, _ := r.Body["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		delete(meta, field)
	}
	entries, _ := meta["managedFields"].([]any)
	for _, e := range entries {
		if e, ok := e.(map[string]any); ok {
			if e["time"] != nil { // whether there is one is part of the answer
				e["time"] = "some time"
			}
		}
	}
	inOrder(entries)
	details, _ := r.Body["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	inOrder(causes)
	return r, nil
}

// shorten cuts texts before the objects that they quote.
func shorten(v map[string]any) {
	for k, x := range v {
		switch x := x.(type) {
		case string:
			v[k], _, _ = strings.Cut(x, `"{\"`)
		case map[string]any:
			shorten(x)
		case []any:
			for _, e := range x {
				if e, ok := e.(map[string]any); ok {
					shorten(e)
				}
			}
		}
	}
}

func inOrder(list []any) {
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(encoded(a), encoded(b)) })
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Step is one request.
type Step struct {
	// Method, Path (with its query), Type, Agent and Body are sent. An empty
	// Agent is that of the client.
	Method, Path, Type, Agent, Body string
}

// Story is a sequence of requests, told in order to a server that has the
// namespace and the definition and nothing else of that name.
type Story struct {
	// Name begins with the rows of the feature list that it shows.
	Name  string
	Steps []Step
}

// What the stories are about has the same names on every server.
const (
	Group     = "ownership.example.com"
	Namespace = "ownership"
)

// Definition is the definition of the custom resource in the stories.
const Definition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "shops.` + Group + `"},
"spec": {"group": "` + Group + `", "scope": "Namespaced", "names": {"plural": "shops", "singular": "shop", "kind": "Shop"},
 "versions": [{"name": "v1beta1", "served": true, "storage": false, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": ` + schema + `}},
  {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": ` + schema + `},
   "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}}]}}`

const schema = `{"type": "object", "properties": {
 "spec": {"type": "object", "properties": {
  "replicas": {"type": "integer", "minimum": 0}, "note": {"type": "string"}, "size": {"type": "string", "default": "small"},
  "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
   "items": {"type": "object", "required": ["port"], "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": {"type": "string"},
    "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}}},
  "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
  "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}},
  "labels": {"type": "object", "additionalProperties": {"type": "string"}},
  "selector": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
  "struct": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
  "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
  "any": {"x-kubernetes-int-or-string": true},
  "nested": {"type": "object", "nullable": true, "properties": {"x": {"type": "string"}, "y": {"type": "number"}}}}},
 "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"},
  "conditions": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
   "items": {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}, "status": {"type": "string"}}}}}}}}`

// Items are the paths of what a story may leave.
func (s Story) Items() []string {
	name := objectName(s.Name)
	items := []string{configMaps + "/" + name, shops + "/" + name}
	for _, k := range []kind{service, pod, deployment, statefulSet, cronJob, ingress, networkPolicy, endpointSlice, roleBinding} {
		items = append(items, k.path+"/"+name)
	}
	return items
}
