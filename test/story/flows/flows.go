// Package flows owns a table of requests, and of the flow schemas and levels that they
// fall under. kube-apiserver's are in test/recorded; test/cmd/record writes them.
//
// It must not know how a server finds a schema, nor which server is asked.
package flows

import "strings"

// Table is the name of the table among the recordings, and of its one file.
const Table = "flows"

// Anonymous is who sends a request without credentials; everybody else is impersonated.
const Anonymous = "-"

// Request is one request.
type Request struct {
	Method, Path string
	// User is who sends it, with further groups; without one an administrator does.
	User   string
	Groups []string
	// Headers are names and values in turn.
	Headers []string
	// Body is sent as JSON.
	Body string
}

// Heading names the request in recordings.
func (r Request) Heading() string {
	out := r.Method + " " + r.Path
	switch r.User {
	case "":
	case Anonymous:
		out += " without credentials"
	default:
		out += " by " + strings.Join(append([]string{r.User}, r.Groups...), " of ")
	}
	for i := 0; i+1 < len(r.Headers); i += 2 {
		out += " " + r.Headers[i] + "=" + r.Headers[i+1]
	}
	return out
}

// Who sends requests of the table.
const (
	somebody   = "flows-somebody"
	node       = "system:node:flows"
	nodes      = "system:nodes"
	manager    = "system:kube-controller-manager"
	scheduler  = "system:kube-scheduler"
	ofSystem   = "system:serviceaccount:kube-system:deployment-controller"
	ofOthers   = "system:serviceaccount:default:default"
	ofSchema   = "flows-match-" // with the name of a schema: its only user
	namespaced = "/api/v1/namespaces/default/"
	leases     = "/apis/coordination.k8s.io/v1/namespaces/"
)

// accounts are the groups of the accounts of a namespace.
func accounts(namespace string) []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}

// Requests is the table.
func Requests() []Request {
	var out []Request
	add := func(user string, groups []string, lines ...string) {
		for _, line := range lines {
			method, path, _ := strings.Cut(line, " ")
			r := Request{Method: method, Path: path, User: user, Groups: groups}
			if method == "POST" || method == "PUT" || method == "PATCH" {
				r.Body = "{}"
			}
			out = append(out, r)
		}
	}
	ofTheBeginning(add)
	ofSchemas(add)
	out = append(out,
		Request{Method: "GET", Path: "/version", User: Anonymous, Headers: []string{"Authorization", "Bearer nobody"}},
		Request{Method: "GET", Path: "/version", User: ofOthers},
		Request{Method: "GET", Path: "/version", User: "system:anonymous", Groups: []string{"system:unauthenticated"}},
	)
	return out
}

// ofTheBeginning are requests that fall under schemas that are always there.
func ofTheBeginning(add func(user string, groups []string, lines ...string)) {
	all := []string{
		"GET /healthz", "GET /livez", "GET /readyz", "GET /livez/ping", "GET /readyz/ping", "HEAD /healthz", "POST /healthz", "GET /healthz/", "GET /healthzz",
		"GET /version", "GET /api", "GET /api/v1", "GET /apis", "GET /apis/apps", "GET /openapi/v2", "GET /openapi/v3", "GET /metrics", "GET /", "GET /no/such",
		"GET " + namespaced + "pods", "GET " + namespaced + "pods?watch=true&timeoutSeconds=1", "GET /api/v1/watch/namespaces?timeoutSeconds=1",
		"GET " + namespaced + "pods/none", "GET " + namespaced + "pods/none/log", "GET /api/v1/nodes", "GET /apis/no.such/v1/things",
	}
	add("", nil, all...)
	add(Anonymous, nil, all...)
	add(somebody, nil, append(all, "POST "+namespaced+"pods/none/exec?command=id", "GET "+namespaced+"pods/none/attach", "GET "+namespaced+"services/none/proxy/a",
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "POST "+namespaced+"events", "DELETE "+namespaced+"configmaps")...)
	add("somebody", []string{"system:masters"}, "GET /api/v1/nodes", "GET /version")
	add(node, []string{nodes}, "GET /version", "GET /healthz", "GET /api/v1/nodes/flows", "PATCH /api/v1/nodes/flows", "PUT /api/v1/nodes/flows/status", "PATCH /api/v1/nodes/flows/status", "GET /api/v1/nodes?watch=true&timeoutSeconds=1",
		"GET "+leases+"kube-node-lease/leases/flows", "PUT "+leases+"kube-node-lease/leases/flows", "GET "+leases+"default/leases/flows", "GET /apis/coordination.k8s.io/v1/leases",
		"GET "+namespaced+"pods/none", "PATCH "+namespaced+"pods/none/status", "POST "+namespaced+"events", "POST /apis/events.k8s.io/v1/namespaces/default/events", "POST "+namespaced+"serviceaccounts/default/token", "GET /apis/storage.k8s.io/v1/csinodes/flows")
	add(somebody, []string{nodes}, "PATCH /api/v1/nodes/flows/status", "GET "+namespaced+"pods")
	add(node, nil, "PATCH /api/v1/nodes/flows/status")
	for _, user := range []string{manager, scheduler} {
		add(user, nil, "GET /api/v1/nodes", "GET /version", "GET /livez", "GET "+leases+"kube-system/leases/x", "POST "+leases+"kube-system/leases", "PUT "+leases+"kube-system/leases/x", "PATCH "+leases+"kube-system/leases/x", "DELETE "+leases+"kube-system/leases/x",
			"GET "+leases+"kube-system/leases", "GET "+leases+"default/leases/x", "GET /api/v1/namespaces/kube-system/endpoints/x", "PUT /api/v1/namespaces/kube-system/configmaps/x", "POST "+namespaced+"pods/x/binding")
	}
	add(ofSystem, accounts("kube-system"), "GET /version", "GET /api/v1/nodes", "GET "+leases+"kube-system/leases/x", "PUT "+leases+"kube-system/leases/x", "GET "+namespaced+"pods", "GET /readyz")
	add("system:serviceaccount:kube-system:other", accounts("kube-system"), "GET "+namespaced+"pods")
	add(ofSystem, nil, "GET "+namespaced+"pods", "PUT "+leases+"kube-system/leases/x")
	add("system:serviceaccount:kube-system", nil, "GET "+namespaced+"pods")
	add("system:serviceaccount:kube-system:a:b", nil, "GET "+namespaced+"pods")
	add("system:serviceaccount:kube-system:", nil, "GET "+namespaced+"pods")
	add(ofOthers, accounts("default"), "GET /version", "GET "+namespaced+"pods", "GET "+leases+"kube-system/leases/x", "GET /livez")
	add(somebody, []string{"system:serviceaccounts"}, "GET "+namespaced+"pods")
}

// Parse reads a recording.
func Parse(text string) []Line {
	var out []Line
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if under, ok := strings.CutPrefix(line, "> "); ok && len(out) > 0 {
			out[len(out)-1].Under = under
			continue
		}
		out = append(out, Line{Heading: line})
	}
	return out
}
