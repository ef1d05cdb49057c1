package openapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/spec3"
)

// What streams is described as kube-apiserver describes it: it answers no object, and what it
// is asked with are parameters.
func TestConnectionsAreDescribed(t *testing.T) {
	doc := v3(t, documents(t, builtins(t), nil), corePath)
	at := func(subresource string) *spec3.Path {
		return doc.Paths.Paths["/api/v1/namespaces/{namespace}/pods/{name}/"+subresource]
	}
	for subresource, want := range map[string]string{
		"exec":        "PodExecOptions command:string container:string name:string namespace:string stderr:boolean stdin:boolean stdout:boolean tty:boolean",
		"attach":      "PodAttachOptions container:string name:string namespace:string stderr:boolean stdin:boolean stdout:boolean tty:boolean",
		"portforward": "PodPortForwardOptions name:string namespace:string ports:integer",
	} {
		kind, parameters, _ := strings.Cut(want, " ")
		p := at(subresource)
		if got := described(p.Parameters); got != parameters {
			t.Errorf("%s has the parameters %s", subresource, got)
		}
		if !slices.ContainsFunc(p.Parameters, func(p *spec3.Parameter) bool {
			return p.Name == "name" && p.Description == "name of the "+kind && p.Required
		}) {
			t.Errorf("%s has no name of a %s", subresource, kind)
		}
		for method, op := range map[string]*spec3.Operation{"Get": p.Get, "Post": p.Post} {
			if op == nil {
				t.Errorf("%s: no %s", subresource, method)
				continue
			}
			id, about := "connectCoreV1"+method+"NamespacedPod"+title(subresource), "connect "+strings.ToUpper(method)+" requests to "+subresource+" of Pod"
			if op.OperationId != id || op.Description != about || op.RequestBody != nil || op.Extensions["x-kubernetes-action"] != "connect" || gvk(op.Extensions) != "map[group: kind:"+kind+" version:v1]" {
				t.Errorf("%s: %+v", subresource, op)
			}
			if got := answers(op); got != "200 */* string" {
				t.Errorf("%s answers %s", id, got)
			}
		}
	}
	logs := at("log")
	if got := described(logs.Parameters); got != "container:string follow:boolean insecureSkipTLSVerifyBackend:boolean limitBytes:integer name:string namespace:string pretty:string previous:boolean sinceSeconds:integer stream:string tailLines:integer timestamps:boolean" {
		t.Errorf("logs have the parameters %s", got)
	}
	if got := answers(logs.Get); logs.Get.OperationId != "readCoreV1NamespacedPodLog" || got != "200 application/json string, 200 application/vnd.kubernetes.protobuf string, 200 application/yaml string, 200 text/plain string" {
		t.Errorf("%s answers %s", logs.Get.OperationId, got)
	}
	if p := at("ephemeralcontainers"); p.Get == nil || p.Put == nil || p.Post != nil || answers(p.Get) == answers(logs.Get) {
		t.Errorf("ephemeral containers: %+v", p)
	}
}

// described are parameters with their types, in their order.
func described(all []*spec3.Parameter) string {
	var out []string
	for _, p := range all {
		out = append(out, p.Name+":"+strings.Join(p.Schema.Type, ","))
	}
	return strings.Join(out, " ")
}

// answers are the answers of an operation that have a content.
func answers(op *spec3.Operation) string {
	var out []string
	for code, r := range op.Responses.StatusCodeResponses {
		for media, content := range r.Content {
			out = append(out, fmt.Sprintf("%d %s %s", code, media, strings.Join(content.Schema.Type, ",")))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
