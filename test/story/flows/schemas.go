package flows

import (
	"encoding/json"
	"fmt"
)

// Where the kinds of flow control are.
const (
	kinds       = "/apis/flowcontrol.apiserver.k8s.io/v1/"
	schemasPath = kinds + "flowschemas"
	levelsPath  = kinds + "prioritylevelconfigurations"
)

// own is the level that most schemas of the table name.
const own = "flows-level"

const levelBody = `{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"PriorityLevelConfiguration","metadata":{"name":"` + own + `"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":5,"limitResponse":{"type":"Reject"}}}}`

// schema is a FlowSchema of the table.
type schema struct {
	name, level string
	precedence  int
	// subjects and rules are JSON; rules are those of one entry.
	subjects, rules string
}

// body is the object in JSON.
func (s schema) body() string {
	return fmt.Sprintf(`{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"FlowSchema","metadata":{"name":%q},"spec":{"matchingPrecedence":%d,"priorityLevelConfiguration":{"name":%q},"rules":[{"subjects":[%s],%s}]}}`,
		s.name, s.precedence, s.level, s.subjects, s.rules)
}

// ready is the schema that is made last, and who falls under it when all are in force.
const ready = "flows-ready"

func user(name string) string {
	text, _ := json.Marshal(name)
	return `{"kind":"User","user":{"name":` + string(text) + `}}`
}

func group(name string) string { return `{"kind":"Group","group":{"name":"` + name + `"}}` }

// resource are rules about resources: which, of which verbs and groups, and where.
func resource(verbs, groups, resources, where string) string {
	return `"resourceRules":[{"verbs":[` + verbs + `],"apiGroups":[` + groups + `],"resources":[` + resources + `],` + where + `}]`
}

func paths(verbs, urls string) string {
	return `"nonResourceRules":[{"verbs":[` + verbs + `],"nonResourceURLs":[` + urls + `]}]`
}

const (
	any         = `"*"`
	everywhere  = `"clusterScope":true,"namespaces":["*"]`
	cluster     = `"clusterScope":true`
	inAny       = `"namespaces":["*"]`
	inDefault   = `"namespaces":["default"]`
	everything  = `"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],` + everywhere + `}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]`
	precedences = 1500
)

// one is a schema for one user, by its rules.
func one(name, rules string) schema {
	return schema{"flows-" + name, own, precedences, user(ofSchema + name), rules}
}

// schemas are those that the table adds.
func schemas() []schema {
	return []schema{
		one("verbs", resource(`"get","create"`, any, any, everywhere)),
		one("groups", resource(any, `"apps",""`, any, everywhere)),
		one("core", resource(any, `""`, any, everywhere)),
		one("resources", resource(any, any, `"pods","deployments"`, everywhere)),
		one("subresources", resource(any, any, `"pods/status","deployments/scale"`, everywhere)),
		one("all-subresources", resource(any, any, `"*/status"`, everywhere)),
		one("cluster", resource(any, any, any, cluster)),
		one("any-namespace", resource(any, any, any, inAny)),
		one("one-namespace", resource(any, any, any, inDefault)),
		one("scoped", resource(any, any, any, `"clusterScope":true,"namespaces":["default"]`)),
		one("paths", paths(any, `"/version","/apis","/logs/*"`)),
		one("slash", paths(any, `"/apis/*"`)),
		one("root", paths(any, `"/"`)),
		one("gets", paths(`"get"`, any)),
		one("writes", paths(`"create","update"`, any)),
		one("both", everything),
		{"flows-order-b", own, 1501, user("flows-order"), everything},
		{"flows-order-a", "system", 1501, user("flows-order"), everything},
		{"flows-order-c", "node-high", 1500, user("flows-order"), paths(any, `"/version"`)},
		{"flows-first", own, 3, user("flows-order") + "," + user(node), paths(any, `"/readyz"`)},
		{"flows-before-exempt", own, 3, group("system:masters"), paths(any, `"/flows-masters"`)},
		{"flows-dangling", "flows-no-such-level", 1400, user("flows-dangling"), everything},
		{"flows-exempt", "exempt", 1400, user("flows-exempt"), everything},
		{"flows-late", own, 9950, user("flows-late"), everything},
		{"flows-latest", own, 9999, user("flows-latest"), everything},
		{"flows-group", own, 1502, group("flows-group"), everything},
		{"flows-all-users", own, 1503, user("*"), paths(any, `"/flows-all-users"`)},
		{"flows-all-groups", own, 1503, group("*"), paths(any, `"/flows-all-groups"`)},
		{"flows-authenticated", own, 1504, group("system:authenticated"), paths(any, `"/flows-group"`)},
		{"flows-unauthenticated", own, 1504, group("system:unauthenticated"), paths(any, `"/flows-group"`)},
		{"flows-account", own, 850, `{"kind":"ServiceAccount","serviceAccount":{"namespace":"flows","name":"one"}}`, everything},
		{"flows-accounts", own, 851, `{"kind":"ServiceAccount","serviceAccount":{"namespace":"flows-all","name":"*"}}`, everything},
		{ready, own, 1600, user(ready), everything},
	}
}

// ofSchemas are requests that are about the schemas of the table.
func ofSchemas(add func(user string, groups []string, lines ...string)) {
	about := []string{
		"GET " + namespaced + "pods", "GET " + namespaced + "pods/x", "POST " + namespaced + "pods", "GET " + namespaced + "pods/x/status", "PATCH " + namespaced + "pods/x/status", "DELETE " + namespaced + "pods",
		"GET /api/v1/pods", "GET /api/v1/namespaces/kube-system/pods", "GET /api/v1/namespaces/default", "GET /api/v1/namespaces", "PUT /api/v1/namespaces/default/status", "GET /api/v1/nodes/x", "GET " + namespaced + "services/x/status",
		"GET /apis/apps/v1/namespaces/default/deployments/x", "PUT /apis/apps/v1/namespaces/default/deployments/x/scale", "GET /apis/apps/v1/deployments?watch=true&timeoutSeconds=1", "GET /apis/batch/v1/jobs", "GET /apis/no.such/v1/namespaces/default/things",
	}
	for _, name := range []string{"verbs", "groups", "core", "resources", "subresources", "all-subresources", "cluster", "any-namespace", "one-namespace", "scoped", "paths"} {
		add(ofSchema+name, nil, about...)
	}
	outside := []string{"GET /version", "HEAD /version", "POST /version", "GET /version/", "GET /apis", "GET /apis/", "GET /apis/apps", "GET /apis/apps/v1", "GET /logs", "GET /logs/", "GET /logs/a/b", "GET /", "GET /api", "OPTIONS /api"}
	for _, name := range []string{"paths", "slash", "root", "gets", "writes", "both", "verbs"} {
		add(ofSchema+name, nil, outside...)
	}
	add("", nil, "GET /flows-all-users", "GET /flows-masters")
	for _, user := range []string{Anonymous, somebody, manager, node} {
		add(user, nil, "GET /flows-all-users", "GET /flows-all-groups", "GET /flows-group")
	}
	add("flows-order", nil, "GET /version", "GET /readyz", "GET "+namespaced+"pods")
	add(node, []string{nodes}, "GET /readyz")
	add("somebody", []string{"system:masters"}, "GET /flows-masters")
	for _, user := range []string{"flows-dangling", "flows-exempt", "flows-late", "flows-latest"} {
		add(user, nil, "GET /version", "GET "+namespaced+"pods", "GET /healthz")
	}
	add(somebody, []string{"flows-group"}, "GET /version", "GET "+namespaced+"pods")
	for _, account := range []string{"flows:one", "flows:two", "flows-all:one", "flows-all:two"} {
		add("system:serviceaccount:"+account, nil, "GET /version", "GET "+namespaced+"pods")
		add("system:serviceaccount:"+account, accounts("x"), "GET "+namespaced+"pods")
	}
	add("system:serviceaccount:flows", nil, "GET /version")
	add("system:serviceaccount:flows:one:more", nil, "GET /version")
}
