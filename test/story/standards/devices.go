package standards

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

const (
	roles        = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	roleBindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
)

// allocated is the status of a claim of whose devices one is given, on node n where it is
// said to be local.
func allocated(local bool, more string) string {
	where := ""
	if local {
		where = `,"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}`
	}
	return `{"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"one"},{"request":"r","driver":"e.example.com","pool":"p","device":"two"}]}` + where + `}` + more + `}}`
}

func said(driver, device, ready string) string {
	return `{"driver":"` + driver + `","pool":"p","device":"` + device + `","data":{"ready":` + ready + `}}`
}

// devices has users change what is allocated and reported of a claim, who may change its
// status, and then more and more of what that takes.
func devices(s *scene) {
	base := "/apis/resource.k8s.io/v1/namespaces/" + s.ns + "/resourceclaims"
	const jane, account = "std-jane", "system:serviceaccount:std-x:driver"
	grant := func(name, user, resource, verbs, names string) {
		only := ""
		if names != "" {
			only = `,"resourceNames":["` + names + `"]`
		}
		s.send("POST", roles, `{"metadata":{"name":"std-`+name+`"},"rules":[{"apiGroups":["resource.k8s.io"],"resources":["`+resource+`"],"verbs":["`+verbs+`"]`+only+`}]}`)
		s.send("POST", roleBindings, `{"metadata":{"name":"std-`+name+`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"std-`+name+`"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"`+user+`"}]}`)
		s.awaits("/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"user":"`+user+`","resourceAttributes":{"group":"resource.k8s.io","resource":"resourceclaims","subresource":"`+resource[len("resourceclaims/"):]+`","verb":"`+verbs+`","name":"`+names+`"}}}`, `"allowed":true`)
	}
	change := func(body, user string, more ...string) {
		s.Add(story.Step{Method: "PATCH", Path: base + "/c/status", Type: story.MergePatch, Body: body, Headers: append([]string{"Impersonate-User", user}, more...)})
	}
	at := []string{"Impersonate-Extra-Authentication.kubernetes.io%2fnode-Name", "n"}
	s.send("POST", base, `{"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"class","allocationMode":"ExactCount","count":2}}]}}}`)
	grant("status", jane, "resourceclaims/status", "patch", "")
	grant("account", account, "resourceclaims/status", "patch", "")
	change(`{"metadata":{"labels":{"a":"b"}},"status":{}}`, jane)
	change(allocated(true, ""), jane)
	change(`{"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}}`, jane)
	grant("other", jane, "resourceclaims/binding", "update", "")
	change(allocated(true, ""), jane)
	grant("binding", jane, "resourceclaims/binding", "patch", "")
	change(allocated(true, `,"devices":[`+said("d.example.com", "one", "true")+`]`), jane)
	change(allocated(true, ""), jane)
	report := func(user string, more ...string) {
		change(`{"status":{"devices":[`+said("d.example.com", "one", "true")+`,`+said("e.example.com", "two", "true")+`]}}`, user, more...)
	}
	report(jane)
	grant("driver-d", jane, "resourceclaims/driver", "arbitrary-node:patch", "d.example.com")
	report(jane)
	change(`{"status":{"devices":[`+said("d.example.com", "one", "true")+`]}}`, jane)
	grant("driver-e", account, "resourceclaims/driver", "associated-node:patch", "e.example.com")
	report(account)
	report(account, at...)
	report(account, at[0], "m")
	change(`{"status":{"devices":[`+said("e.example.com", "two", "false")+`]}}`, account, at...)
	change(`{"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}}`, account, at...)
	change(`{"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}}`, jane)
	change(`{"status":{"reservedFor":null}}`, jane)
	change(`{"status":{"allocation":null}}`, account)
	change(`{"status":{"allocation":null}}`, jane)
	wrongDevices(s, base+"/c/status")
	for _, name := range []string{"status", "account", "other", "binding", "driver-d", "driver-e"} {
		s.send("DELETE", roleBindings+"/std-"+name, "")
		s.send("DELETE", roles+"/std-"+name, "")
	}
}

// wrongDevices has an administrator write what no claim can have, and a claim that goes.
func wrongDevices(s *scene, path string) {
	change := func(body string) {
		s.Add(story.Step{Method: "PATCH", Path: path, Type: story.MergePatch, Body: body})
	}
	result := func(more string) string {
		return `{"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"one"}]` + more + `}}}}`
	}
	const consumer = `{"resource":"pods","name":"p","uid":"u"}`
	for _, body := range []string{
		`{"status":{"reservedFor":[` + consumer + `]}}`,
		`{"status":{"reservedFor":[` + consumer + `,{"resource":"pods","name":"q","uid":"u"},{"resource":"","name":"","uid":""}]}}`,
		`{"status":{"devices":[` + said("d.example.com", "one", "true") + `]}}`,
		`{"status":{"allocation":{"devices":{"results":[{"request":"other","driver":"D.example.com","pool":"p/q","device":"one"},{"request":"r/s/t","driver":"","pool":"","device":""},{"request":"R","driver":"a_b","pool":"p//_","device":"One","shareID":"no"}]}}}}`,
		`{"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"p","device":"one","bindingConditions":["a","a","_"],"bindingFailureConditions":["b","a"]},{"request":"r","driver":"d","pool":"p","device":"two","bindingConditions":["a","b","c","d","e"],"bindingFailureConditions":["x"]},{"request":"r","driver":"d","pool":"p","device":"three","bindingConditions":["a"]},{"request":"r","driver":"d","pool":"p","device":"four","bindingFailureConditions":["a","a"]}]}}}}`,
		result(`,"config":[{"source":"","requests":["r","r","x"]},{"source":"Other","opaque":{"driver":"d","parameters":{"a":1}}}]`),
		result(`,"config":[{"source":"FromClass","opaque":{"driver":"","parameters":{}}},{"source":"FromClass","opaque":{"driver":"d"}}]`),
		`{"status":{"allocation":{"nodeSelector":{"nodeSelectorTerms":[]}}}}`,
		result(""),
		result(""),
		`{"status":{"devices":[` + said("d.example.com", "two", "true") + `,` + said("", "One", "true") + `]}}`,
		`{"status":{"devices":[` + said("d.example.com", "one", "true") + `,` + said("d.example.com", "one", "false") + `]}}`,
		`{"status":{"devices":[{"driver":"d.example.com","pool":"p","device":"one","shareID":"ABCDEF01-0000-0000-0000-000000000000"}]}}`,
		`{"status":{"devices":[{"driver":"d.example.com","pool":"p","device":"one","data":[]}]}}`,
		`{"status":{"devices":[{"driver":"d.example.com","pool":"p","device":"one","networkData":{"interfaceName":"` + strings.Repeat("i", 257) + `","hardwareAddress":"` + strings.Repeat("h", 129) + `","ips":["10.0.0.1/24","10.0.0.1/24","10.0.0.1","010.0.0.1/24"]}}]}}`,
		`{"status":{"devices":[{"driver":"d.example.com","pool":"p","device":"one","conditions":[{"type":"T","status":"?","reason":"","message":""}]}]}}`,
		`{"metadata":{"finalizers":["example.com/f"]},"status":{"reservedFor":[` + consumer + `]}}`,
	} {
		change(body)
	}
	claim := strings.TrimSuffix(path, "/status")
	s.Add(story.Step{Method: "PATCH", Path: claim, Type: story.MergePatch, Body: `{"metadata":{"finalizers":["example.com/f"]}}`, Brief: true})
	s.send("DELETE", claim, "")
	change(`{"status":{"reservedFor":[` + consumer + `,{"resource":"pods","name":"q","uid":"v"}]}}`)
	change(`{"status":{"reservedFor":[]}}`)
	s.Add(story.Step{Method: "PATCH", Path: claim, Type: story.MergePatch, Body: `{"metadata":{"finalizers":null}}`, Brief: true})
}
