package openapi

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wasmgate/wasmgate/crd"
	crdschema "github.com/wasmgate/wasmgate/crd/schema"
)

// documented is the options of a request, which are the parameters of its query.
type documented interface{ SwaggerDoc() map[string]string }

// connections are the options by their kind.
var connections = map[string]documented{
	"PodExecOptions": corev1.PodExecOptions{}, "PodAttachOptions": corev1.PodAttachOptions{}, "PodPortForwardOptions": corev1.PodPortForwardOptions{},
}

// connection describes a subresource of pods that streams, by how the pod and its status are
// described; nil of another one. What it answers is no object.
func (k *kind) connection(s *crd.Subresource, item, status *spec3.Path) *spec3.Path {
	if status == nil || status.Get == nil {
		return nil
	}
	if s.Name == "log" {
		read := k.about(s, "get", status.Get)
		answer(read, "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/plain")
		return &spec3.Path{PathProps: spec3.PathProps{Get: read, Parameters: withQuery(item.Parameters, corev1.PodLogOptions{})}}
	}
	options := connections[s.Kind.Kind]
	if options == nil {
		return nil
	}
	out := &spec3.Path{}
	for _, p := range withQuery(item.Parameters, options) {
		switch p.Name {
		case "pretty": // nothing is printed
			continue
		case "name":
			named := *p
			named.Description = "name of the " + s.Kind.Kind
			p = &named
		}
		out.Parameters = append(out.Parameters, p)
	}
	out.Get, out.Post = k.connect(s, "Get", "get", status.Get), k.connect(s, "Post", "create", status.Get)
	return out
}

// connect is a request to connect by a method, nil if verb is not served.
func (k *kind) connect(s *crd.Subresource, method, verb string, read *spec3.Operation) *spec3.Operation {
	if !slices.Contains(s.Verbs, verb) {
		return nil
	}
	out := &spec3.Operation{OperationProps: spec3.OperationProps{Tags: read.Tags, Responses: read.Responses}}
	version, object, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(read.OperationId, "read"), "Status"), "Namespaced")
	out.OperationId = "connect" + version + method + "Namespaced" + object + title(s.Name)
	out.Description = "connect " + strings.ToUpper(method) + " requests to " + s.Name + " of " + k.def.Kind
	answer(out, "*/*")
	out.AddExtension("x-kubernetes-action", "connect")
	out.AddExtension("x-kubernetes-group-version-kind", map[string]string{"group": s.Kind.Group, "version": s.Kind.Version, "kind": s.Kind.Kind})
	return out
}

// answer has an operation answer text.
func answer(op *spec3.Operation, media ...string) {
	if op == nil {
		return
	}
	ok := &spec3.Response{ResponseProps: spec3.ResponseProps{Description: "OK", Content: map[string]*spec3.MediaType{}}}
	for _, m := range media {
		ok.Content[m] = &spec3.MediaType{MediaTypeProps: spec3.MediaTypeProps{Schema: spec.StringProperty()}}
	}
	codes := map[int]*spec3.Response{200: ok}
	if op.Responses != nil && op.Responses.StatusCodeResponses[401] != nil {
		codes[401] = op.Responses.StatusCodeResponses[401]
	}
	op.Responses = &spec3.Responses{ResponsesProps: spec3.ResponsesProps{StatusCodeResponses: codes}}
}

// withQuery are parameters and those that options are, by name.
func withQuery(parameters []*spec3.Parameter, options documented) []*spec3.Parameter {
	out, said := slices.Clone(parameters), options.SwaggerDoc()
	for _, f := range crdschema.Fields(reflect.TypeOf(options)) {
		typ := queryType(f.Type)
		if typ == "" || f.Name == "kind" || f.Name == "apiVersion" {
			continue
		}
		p := &spec3.Parameter{ParameterProps: spec3.ParameterProps{Name: f.Name, In: "query", Description: said[f.Name]}}
		p.Schema = &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{typ}, UniqueItems: true}}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *spec3.Parameter) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// queryType is the type of a parameter that a field is, whose items each are one; "" if it
// is none.
func queryType(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int32, reflect.Int64:
		return "integer"
	}
	return ""
}
