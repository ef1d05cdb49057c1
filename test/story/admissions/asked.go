package admissions

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// tells makes a webhook, of which every call is a warning: see package answer.
// Those that change are asked by older reviews, so that their warnings differ.
func (s *scene) tells(name, rest, rules string) {
	for kind, version := range inOrder(map[string]string{"mutating": "v1beta1", "validating": "v1"}) {
		s.webhook(kind, name, `{"objectSelector":{},"admissionReviewVersions":["`+version+`"],"rules":[`+rules+`]`+rest+`}`)
	}
}

func rule(operations, groups, resources string) string {
	return `{"operations":[` + operations + `],"apiGroups":[` + groups + `],"apiVersions":["*"],"resources":[` + resources + `]}`
}

const (
	reviewGroups = `"authentication.k8s.io","authorization.k8s.io"`
	// marked are requests that say so by the name of their field manager, which
	// those that connect do not have.
	marked = `"matchConditions":[{"name":"marked","expression":"request.operation == 'CONNECT' || has(request.options.fieldManager) && request.options.fieldManager == 'asked'"}]`
	mark   = "?fieldManager=asked"
)

const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

const aPod = `{"metadata":{"name":"NAME","labels":{"skip":"x","pod":"NAME"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// asked shows what webhooks are asked about requests that store no object, or
// another than the one that they carry: how often, and about what.
func asked(s *scene) {
	pods, accounts, deployment := "/api/v1/namespaces/"+s.ns+"/pods", "/api/v1/namespaces/"+s.ns+"/serviceaccounts", "/apis/apps/v1/namespaces/"+s.ns+"/deployments"
	for _, name := range []string{"bound", "evicted", "free"} {
		s.brief("POST", pods, strings.ReplaceAll(aPod, "NAME", name))
	}
	s.brief("POST", accounts, `{"metadata":{"name":"sa","labels":{"skip":"x"}}}`)
	s.brief("POST", deployment, `{"metadata":{"name":"d","labels":{"skip":"x"}},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	s.tells("questions", `,"namespaceSelector":{},`+marked, rule(`"*"`, reviewGroups, `"*"`))
	s.tells("parts", `,`+marked, rule(`"*"`, `""`, `"pods/binding","pods/eviction","pods/exec","pods/portforward","pods/proxy","serviceaccounts/token"`))
	s.tells("deletions", `,"objectSelector":{"matchLabels":{"pod":"evicted"}}`, rule(`"*"`, `""`, `"pods","pods/status"`))
	s.tells("unlabelled", `,"objectSelector":{"matchExpressions":[{"key":"skip","operator":"DoesNotExist"}]},"matchConditions":[]`, rule(`"*"`, `"apps",""`, `"deployments/scale","pods/attach"`))
	s.tells("labelled", `,"objectSelector":{"matchLabels":{"skip":"x"}}`, rule(`"*"`, `"apps",""`, `"deployments/scale","pods/binding","pods/attach"`))
	s.ready("validatingwebhook", "mutatingwebhook")

	s.bindings(pods)
	s.evictions(pods)
	s.tokens(accounts)
	s.questions()
	s.connections(pods)
	s.scales(deployment + "/d/scale")
	for _, name := range []string{"bound", "free"} {
		s.brief("DELETE", pods+"/"+name+"?gracePeriodSeconds=0", "")
	}
	s.brief("DELETE", accounts+"/sa", "")
	s.brief("DELETE", deployment+"/d", "")
}

func (s *scene) bindings(pods string) {
	to := func(pod, rest string) {
		s.Add(story.Step{Method: "POST", Path: pods + "/" + pod + "/binding" + mark, Body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"` + pod + `"` + rest + `},"target":{"kind":"Node","name":"absent"}}`})
	}
	to("free", `,"uid":"another"`)
	to("bound", `,"labels":{"skip":"x","a":"b"},"annotations":{"a":"b"}`)
	to("bound", "")
	to("absent", "")
	for _, labels := range []string{"", `,"labels":{"skip":"x"}`} { // of which only those are asked who select by labels
		s.Add(story.Step{Method: "POST", Path: pods + "/free/binding?dryRun=All", Body: `{"metadata":{"name":"free"` + labels + `},"target":{"name":"absent"}}`})
	}
	s.Add(story.Step{Method: "POST", Path: pods + "/free/binding" + mark + "&dryRun=All", Body: `{"metadata":{"name":"free"},"target":{"name":"absent"}}`})
	s.Add(story.Step{Method: "POST", Path: pods + "/free/binding" + mark, Body: `{"metadata":{"name":"other"},"target":{"name":"absent"}}`})
	s.Add(story.Step{Method: "GET", Path: pods + "/bound", Accept: metadataOnly})
}

func (s *scene) evictions(pods string) {
	of := func(pod, query, rest string) {
		s.Add(story.Step{Method: "POST", Path: pods + "/" + pod + "/eviction" + mark + query, Body: `{"metadata":{"name":"` + pod + `","labels":{"a":"b"}}` + rest + `}`})
	}
	of("evicted", "&dryRun=All", "")
	of("evicted", "", `,"deleteOptions":{"dryRun":["All"],"gracePeriodSeconds":0}`)
	of("evicted", "", `,"deleteOptions":{"preconditions":{"uid":"another"}}`)
	of("evicted", "", "")
	of("evicted", "", "")
	s.Add(story.Step{Method: "POST", Path: pods + "/bound/eviction" + mark, Body: `{"metadata":{"name":"bound"},"deleteOptions":{"gracePeriodSeconds":60}}`})
	s.Add(story.Step{Method: "GET", Path: pods + "/bound", Accept: metadataOnly})
}

func (s *scene) tokens(accounts string) {
	for _, body := range []string{
		`{"spec":{}}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"audiences":["a"],"expirationSeconds":700}}`, `{"spec":{"expirationSeconds":1}}`, `{"metadata":{"name":"other"},"spec":{}}`,
		`{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"absent"}}}`,
	} {
		s.Add(story.Step{Method: "POST", Path: accounts + "/sa/token" + mark, Body: body, Brief: true})
	}
	s.Add(story.Step{Method: "POST", Path: accounts + "/absent/token" + mark, Body: `{"spec":{}}`})
}

// questions are the kinds of objects that are answered and not kept.
func (s *scene) questions() {
	const who, may = "/apis/authentication.k8s.io/v1/", "/apis/authorization.k8s.io/v1/"
	for _, q := range [][2]string{
		{who + "tokenreviews", `{"spec":{"token":"none"}}`},
		{who + "selfsubjectreviews", `{"metadata":{"labels":{"a":"b"}}}`},
		{may + "selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`},
		{may + "subjectaccessreviews", `{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"}}}`},
		{may + "namespaces/" + s.ns + "/localsubjectaccessreviews", `{"spec":{"user":"u","resourceAttributes":{"namespace":"` + s.ns + `","verb":"get","resource":"pods"}}}`},
		{may + "namespaces/absent/localsubjectaccessreviews", `{"spec":{"user":"u","resourceAttributes":{"namespace":"absent","verb":"get","resource":"pods"}}}`},
		{may + "selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`},
	} {
		s.Add(story.Step{Method: "POST", Path: q[0] + mark, Body: q[1], Brief: true})
	}
}

func (s *scene) connections(pods string) {
	for _, path := range []string{
		"exec?command=a&command=b&stdin=true&container=c", "exec?command=a&tty=no&stdout=FALSE&stderr=0&odd=1", "attach?stdout=1", "attach", "portforward?ports=1&ports=2,3", "portforward?ports=x", "portforward",
		"proxy", "proxy/", "proxy/a/b?path=c", "exec?dryRun=All",
	} {
		s.Add(story.Step{Method: "POST", Path: pods + "/free/" + path})
	}
	s.Add(story.Step{Method: "GET", Path: pods + "/free/exec?command=a"})
	s.Add(story.Step{Method: "DELETE", Path: pods + "/free/proxy/a"})
	s.Add(story.Step{Method: "POST", Path: pods + "/absent/exec?command=a"})
}

func (s *scene) scales(scale string) {
	for _, step := range []story.Step{
		{Method: "PATCH", Type: story.MergePatch, Body: `{"spec":{"replicas":2}}`},
		{Method: "PATCH", Type: story.MergePatch, Body: `{"metadata":{"labels":{"skip":"x"}},"spec":{"replicas":3}}`},
		{Method: "PUT", Body: `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d","namespace":"` + s.ns + `","labels":{"skip":"x"}},"spec":{"replicas":4},"status":{"replicas":9}}`},
	} {
		step.Path = scale + mark
		// Who writes what it has not read yet asks again about what there is.
		s.Add(story.Step{Method: "GET", Path: scale, Brief: true})
		s.Add(step)
	}
}
