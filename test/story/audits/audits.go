// Package audits owns a table of audit policies and requests, and how events of audit
// logs are compared. kube-apiserver's events are in test/recorded; test/cmd/record writes
// them.
//
// It must not know how a server keeps what, nor which one is asked.
package audits

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Table is the name of the table among the recordings.
const Table = "audits"

// The people of the table: an administrator, and somebody who may do nothing.
const (
	AdminToken = "admintoken"
	AnnToken   = "anntoken"
	// Tokens is their file.
	Tokens = "admintoken,admin,admin,system:masters\nanntoken,ann,ann-uid,readers\n"
)

// Agent is what all requests call themselves.
const Agent = "audits/1"

// Policy is a policy with a name.
type Policy struct{ Name, Text string }

const head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"

// Policies are all that are compared.
var Policies = []Policy{
	{"everything", head + "rules:\n- {level: RequestResponse}\n"},
	{"metadata", head + "omitStages: [RequestReceived]\nrules:\n- {level: Metadata}\n"},
	{"requests", head + "omitManagedFields: true\nrules:\n- {level: None, nonResourceURLs: [/healthz*, /readyz, /version]}\n- {level: Request, verbs: [create, update, patch, delete], omitStages: [RequestReceived]}\n- {level: Metadata, users: [ann]}\n"},
	{"rules", head + `rules:
- {level: RequestResponse, resources: [{group: "", resources: [configmaps], resourceNames: [one]}], omitManagedFields: true, omitStages: [RequestReceived]}
- {level: Request, resources: [{group: "", resources: ["namespaces/*", "*/token"]}]}
- {level: Metadata, userGroups: [readers], namespaces: [audits]}
- {level: Metadata, nonResourceURLs: [/api*]}
- {level: RequestResponse, resources: [{group: apps}], verbs: [create, delete]}
- {level: None}
`},
}

// Request is one request.
type Request struct {
	Method, Path, Type, Body string
	// Token is whose; "" is the administrator's.
	Token string
	// Headers are names and values in turn.
	Headers []string
}

// Heading names the request in recordings.
func (r Request) Heading() string {
	out := r.Method + " " + r.Path
	if r.Token == AnnToken {
		out += " by ann"
	} else if r.Token != "" {
		out += " by " + r.Token
	}
	for i := 0; i+1 < len(r.Headers); i += 2 {
		out += " " + r.Headers[i] + "=" + r.Headers[i+1]
	}
	if r.Type != "" {
		out += " " + r.Type
	}
	if r.Body != "" {
		out += fmt.Sprintf(" %q", r.Body)
	}
	return out
}

const (
	cms    = "/api/v1/namespaces/audits/configmaps"
	deps   = "/apis/apps/v1/namespaces/audits/deployments"
	pod    = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	asJSON = "application/json"
)

// Requests are sent in this order, of which the first makes the namespace.
var Requests = []Request{
	{Method: "POST", Path: "/api/v1/namespaces", Type: asJSON, Body: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"audits"}}`},
	{Method: "POST", Path: cms, Type: asJSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"<&>"}}`},
	{Method: "POST", Path: cms + "?dryRun=All", Type: "application/yaml", Body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: audits}\n"},
	{Method: "POST", Path: cms, Type: asJSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}}`},
	{Method: "POST", Path: cms, Type: asJSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"Bad"}}`},
	{Method: "POST", Path: cms, Type: asJSON, Body: `{"apiVersion":`},
	{Method: "GET", Path: cms + "/one"},
	{Method: "GET", Path: cms + "/none"},
	{Method: "GET", Path: cms + "?fieldSelector=metadata.name%3Done"},
	{Method: "GET", Path: cms + "/one", Headers: []string{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}},
	{Method: "GET", Path: cms + "/one", Headers: []string{"Accept", "application/vnd.kubernetes.protobuf"}},
	{Method: "PUT", Path: cms + "/one", Type: asJSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","resourceVersion":"1","uid":"u"},"data":{"a":"c"}}`},
	{Method: "PUT", Path: cms + "/one", Type: asJSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"audits"},"data":{"a":"c"}}`},
	{Method: "PATCH", Path: cms + "/one", Type: "application/merge-patch+json", Body: `{"data":{"b":"d"}}`},
	{Method: "PATCH", Path: cms + "/one", Type: "application/json-patch+json", Body: `[{"op":"remove","path":"/data/b"}]`},
	{Method: "PATCH", Path: cms + "/two?fieldManager=m", Type: "application/apply-patch+yaml", Body: `{"apiVersion":"v1","kind":"ConfigMap","data":{"x":"y"}}`},
	{Method: "GET", Path: cms + "/one", Token: AnnToken},
	{Method: "POST", Path: cms, Token: AnnToken, Type: asJSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"hers"}}`},
	{Method: "GET", Path: cms, Token: AnnToken, Headers: []string{"X-Forwarded-For", "10.1.2.3, 10.4.5.6"}},
	{Method: "GET", Path: cms, Token: "wrong"},
	{Method: "GET", Path: cms, Token: "-"},
	{Method: "GET", Path: cms + "/one", Headers: []string{"Impersonate-User", "bob", "Impersonate-Group", "system:masters", "Impersonate-Uid", "7"}},
	{Method: "GET", Path: cms + "/one", Headers: []string{"Impersonate-User", "bob"}},
	{Method: "GET", Path: cms + "/one", Token: AnnToken, Headers: []string{"Impersonate-User", "bob"}},
	{Method: "GET", Path: cms + "?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Dnone"},
	{Method: "GET", Path: cms + "?watch=1&timeoutSeconds=1", Token: AnnToken},
	{Method: "GET", Path: "/api/v1/namespaces/audits/nothings"},
	{Method: "GET", Path: "/api/v1/namespaces/audits/endpoints/none"},
	{Method: "POST", Path: deps, Type: asJSON, Body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":` + pod + `}}`},
	{Method: "GET", Path: deps + "/d/scale"},
	{Method: "PATCH", Path: deps + "/d/scale", Type: "application/merge-patch+json", Body: `{"spec":{"replicas":3}}`},
	{Method: "DELETE", Path: deps + "/d", Type: asJSON, Body: `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`},
	{Method: "POST", Path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", Type: asJSON, Body: `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`},
	{Method: "DELETE", Path: cms + "/one"},
	{Method: "DELETE", Path: cms + "/none"},
	{Method: "DELETE", Path: cms + "?labelSelector=a%3Db"},
	{Method: "GET", Path: "/version"},
	{Method: "GET", Path: "/healthz"},
	{Method: "GET", Path: "/nothing/here%20?a=b"},
	{Method: "GET", Path: "/apis/nothing.example.com/v1"},
	{Method: "GET", Path: "/api/v1/namespaces?timeout=nonsense"},
	{Method: "HEAD", Path: cms + "/one"},
}

// ID is what a request is called in a log.
func ID(policy string, n int) string { return fmt.Sprintf("%s-%d", policy, n) }

// Events are those of a log that a request left, without what no two servers agree on.
func Events(log []byte, id string) ([]string, error) {
	var out []string
	for line := range strings.Lines(string(log)) {
		if !strings.Contains(line, `"auditID":"`+id+`"`) {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, err
		}
		delete(e, "auditID")
		text, err := json.Marshal(plain(e))
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}

// plain puts words in the place of what differs each time.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			text, isText := x.(string)
			switch key {
			case "uid":
				if isText && len(text) == 36 {
					v[key] = "UID"
				}
				continue
			case "resourceVersion":
				if isText && text != "1" && text != "" {
					v[key] = "REVISION"
				}
				continue
			case "creationTimestamp", "time", "requestReceivedTimestamp", "stageTimestamp":
				if isText {
					v[key] = "TIME"
				}
				continue
			}
			v[key] = plain(x)
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}
