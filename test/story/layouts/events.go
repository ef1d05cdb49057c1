package layouts

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// The two collections of a namespace's events.
const (
	core = "/api/v1/namespaces/NS/events"
	own  = "/apis/events.k8s.io/v1/namespaces/NS/events"
)

// fresh is an event of events.k8s.io without its metadata.
const fresh = `"eventTime":"2026-01-01T00:00:00.123456Z","reportingController":"example.com/c","reportingInstance":"i","action":"Act","reason":"Because",` +
	`"regarding":{"kind":"Pod","namespace":"NS","name":"p","uid":"u","apiVersion":"v1","resourceVersion":"1","fieldPath":"f"},"note":"text","type":"Normal"`

// old is an event of the core group without its metadata.
const old = `"involvedObject":{"kind":"Node","namespace":"NS","name":"n"},"reason":"Other","message":"m","type":"Warning","count":2,` +
	`"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:01Z","source":{"component":"c","host":"h"}`

func events(s *scene) {
	s.get("/apis/events.k8s.io", "/apis/events.k8s.io/v1")
	s.post(own, `{"metadata":{"name":"fresh"},`+fresh+`,"related":{"kind":"Node","name":"o"},"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:02.000003Z"}}`)
	s.post(core, `{"metadata":{"name":"old","labels":{"a":"b"}},`+old+`}`)
	s.get(own+"/fresh", core+"/fresh", own+"/old", core+"/old")
	s.list("/apis/events.k8s.io/v1/events?fieldSelector=metadata.namespace%3DNS", own, core)
	for _, selector := range []string{
		"regarding.kind%3DPod", "regarding.name%3Dn,type%3DWarning", "reportingController%3Dexample.com/c", "reason!%3DOther", "metadata.name%3Dold",
		"involvedObject.kind%3DPod", "source%3Dc", "reportingComponent%3Dx", "note%3Dtext",
	} {
		s.list(own + "?fieldSelector=" + selector)
	}
	s.list(own+"?labelSelector=a%3Db", core+"?fieldSelector=involvedObject.kind%3DPod", core+"?fieldSelector=regarding.kind%3DPod")
	s.table(own)
	s.table(own + "/fresh")
	s.watch(own)
	s.watch(core)
	s.watch(own + "?fieldSelector=regarding.kind%3DPod")
	s.get(own + "/none")
	s.add(story.Step{Method: "DELETE", Path: own + "/none"})
	s.add(story.Step{Method: "DELETE", Path: own + "/old"})
	s.get(core + "/old")
	s.brief("DELETE", own, "")
	s.get(core)
}

func changes(s *scene) {
	s.brief("POST", own, `{"metadata":{"name":"fresh"},`+fresh+`}`)
	s.brief("POST", core, `{"metadata":{"name":"old"},`+old+`}`)
	s.post(own, `{"metadata":{"name":"fresh"},`+fresh+`}`)
	s.merge(own+"/fresh", `{"series":{"count":3,"lastObservedTime":"2026-01-01T00:00:02.000003Z"}}`)
	s.merge(own+"/fresh", `{"series":{"count":1,"lastObservedTime":null}}`)
	s.merge(own+"/fresh", `{"eventTime":"2026-01-01T00:00:00.123457Z","note":"n","deprecatedCount":2,"type":"Warning","action":"A","reportingInstance":"j"}`)
	s.merge(core+"/fresh", `{"message":"changed","count":4}`)
	s.merge(own+"/fresh", `{"metadata":{"labels":{"a":"b"}}}`)
	s.merge(own+"/old", `{"metadata":{"labels":{"a":"b"}}}`)
	s.merge(own+"/old", `{"note":"x"}`)
	s.put(own+"/put", `{"metadata":{"name":"put"},`+fresh+`}`)
	s.put(own+"/put", `{"metadata":{"name":"put","resourceVersion":"1"},`+fresh+`}`)
	s.put(core+"/put", `{"metadata":{"name":"put"},`+old+`}`)
	s.add(story.Step{Method: "PATCH", Path: own + "/fresh", Type: "application/strategic-merge-patch+json", Body: `{"metadata":{"labels":{"c":"d"}}}`})
	s.add(story.Step{Method: "PATCH", Path: own + "/applied?fieldManager=m", Type: "application/apply-patch+yaml", Body: `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"applied"},` + fresh + `}`})
	s.add(story.Step{Method: "PATCH", Path: core + "/applied?fieldManager=other", Type: "application/apply-patch+yaml", Body: `{"apiVersion":"v1","kind":"Event","metadata":{"name":"applied"},"message":"mine","involvedObject":{"namespace":"NS"}}`})
	s.add(story.Step{Method: "PATCH", Path: core + "/applied?fieldManager=other&force=true", Type: "application/apply-patch+yaml", Body: `{"apiVersion":"v1","kind":"Event","metadata":{"name":"applied"},"message":"mine","involvedObject":{"namespace":"NS"}}`})
	s.get(own + "/applied")
	s.add(story.Step{Method: "DELETE", Path: own + "/fresh", Type: story.JSON, Body: `{"preconditions":{"uid":"x"}}`})
	s.brief("DELETE", own, "")
}

// with is a fresh event with another text in place of one.
func with(text, other string) string {
	return `{"metadata":{"name":"bad"},` + strings.Replace(fresh, text, other, 1) + `}`
}

func refusedEvents(s *scene) {
	for _, event := range []string{
		`{}`, `{"metadata":{"name":"bad"}}`, `{"metadata":{"name":"bad"},` + old + `}`,
		`{"metadata":{"name":"bad"},"eventTime":"2026-01-01T00:00:00.123456Z"}`,
		with(`"Normal"`, `"Odd"`),
		with(`example.com/c`, `not valid!`),
		`{"metadata":{"name":"bad"},` + fresh + `,"series":{"count":1}}`,
		`{"metadata":{"name":"bad"},` + fresh + `,"deprecatedCount":1,"deprecatedSource":{"host":"h"},"deprecatedFirstTimestamp":"2026-01-01T00:00:00Z","deprecatedLastTimestamp":"2026-01-01T00:00:00Z"}`,
		`{"metadata":{"name":"Not valid","finalizers":["odd"]},` + fresh + `}`,
		with(`"namespace":"NS",`, ``),
		with(`"text"`, `5`),
		`{"apiVersion":"v1","kind":"Event","metadata":{"name":"bad"}}`,
	} {
		s.post(own, event)
	}
	s.post(own+"?fieldValidation=Strict", `{"metadata":{"name":"bad"},`+fresh+`,"message":"m"}`)
	s.post(core+"?fieldValidation=Strict", `{"metadata":{"name":"bad"},`+old+`,"note":"m"}`)
	s.post(core, `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"bad"}}`)
	s.post(core, `{"metadata":{"name":"bad"},"eventTime":"2026-01-01T00:00:00.123456Z","involvedObject":{"namespace":"NS"}}`)
	s.post("/apis/events.k8s.io/v1/namespaces/lay-nowhere/events", `{"metadata":{"name":"a","namespace":"lay-nowhere"},`+fresh+`}`)
	s.get("/apis/events.k8s.io/v1beta1/events", "/apis/events.k8s.io/v1/namespaces/NS/events/a/status")
}
