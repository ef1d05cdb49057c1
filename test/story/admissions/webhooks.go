package admissions

import (
	"encoding/base64"
	"fmt"

	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/admissions/answer"
)

// asks creates objects about which a webhook says these things.
func (s *scene) asks(hook string, responses ...string) {
	for _, r := range responses {
		s.create(fmt.Sprintf(`"metadata":{"name":"one","labels":{"hook":%q}},"data":{"answer":%q}`, hook, r))
	}
}

func answers(s *scene) {
	s.webhook("validating", "v", "")
	s.ready("validatingwebhook")
	s.asks("v", "", `{"allowed":true}`, `{"allowed":false}`, `{"allowed":null}`,
		`{"allowed":false,"status":{"message":"no way"}}`,
		`{"allowed":false,"status":{"message":"no way","code":403,"reason":"Forbidden"}}`,
		`{"allowed":false,"status":{"reason":"Gone","code":410}}`,
		`{"allowed":false,"status":{"status":"Success","message":"x","code":200}}`,
		`{"allowed":false,"status":{"message":"x","code":418,"details":{"name":"n","kind":"k","causes":[{"reason":"FieldValueInvalid","message":"m","field":"f"}]}}}`,
		`{"allowed":true,"warnings":["one","two"]}`,
		`{"allowed":false,"warnings":["refused"],"status":{"message":"x"}}`,
		`{"allowed":true,"auditAnnotations":{"a":"b"}}`,
		`{"allowed":true,"patch":"W10="}`,
		`{"allowed":true,"patchType":"JSONPatch"}`,
		`{"allowed":true,"patchType":"JSONPatch","patch":"W10="}`,
		`{"allowed":"yes"}`,
	)
	one := s.configMaps() + "/kept"
	s.Add(story.Step{Method: "POST", Path: s.configMaps(), Body: `{"metadata":{"name":"kept"},"data":{"answer":"{\"allowed\":false,\"status\":{\"message\":\"not this one\"}}"}}`})
	s.Add(story.Step{Method: "PATCH", Path: one, Type: story.MergePatch, Body: `{"metadata":{"labels":{"hook":"v"}}}`})
	s.Add(story.Step{Method: "DELETE", Path: one})
	s.Add(story.Step{Method: "DELETE", Path: s.configMaps()})
}

func patches(s *scene) {
	s.webhook("mutating", "m", "")
	s.ready("mutatingwebhook")
	with := func(p string) string {
		return `{"patchType":"JSONPatch","patch":"` + base64.StdEncoding.EncodeToString([]byte(p)) + `"}`
	}
	s.asks("m", with(`[{"op":"add","path":"/data/k","value":"v"}]`), with(`[]`), with(`null`), with(`{}`), with(`[{"op":"remove","path":"/nothing"}]`),
		with(`[{"op":"odd","path":"/data"}]`), with(`[{"op":"test","path":"/data/k","value":"v"}]`), with(`[{"op":"replace","path":"/data","value":{"a b":"c"}}]`),
		with(`[{"op":"replace","path":"/data","value":"text"}]`), with(`[{"op":"replace","path":"/kind","value":"Secret"}]`), with(`[{"op":"replace","path":"/metadata/name","value":"two"}]`),
		with(`[{"op":"replace","path":"/metadata/namespace","value":"default"}]`), with(`[{"op":"add","path":"/nobody","value":1}]`), with(`[{"op":"copy","from":"/data","path":"/metadata/annotations"}]`),
		with(`[{"op":"replace","path":"","value":{}}]`),
		`{"patch":"W10="}`, `{"patchType":"JSONPatch"}`, `{"patchType":"","patch":"W10="}`, `{"patchType":"Merge","patch":"W10="}`,
		`{"patchType":"Merge","patch":"W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL3gifV0="}`, `{"patchType":"JSONPatch","patch":"bm9uc2Vuc2U="}`,
		`{"allowed":false,"patchType":"JSONPatch","patch":"W10=","warnings":["w"]}`,
	)
}

func webhookFailures(s *scene) {
	for _, kind := range []string{"validating", "mutating"} {
		s.webhook(kind, kind+"-fail", `{"failurePolicy":"Fail"}`)
		s.webhook(kind, kind+"-ignore", `{"failurePolicy":"Ignore"}`)
		s.webhook(kind, kind+"-conditions", `{"failurePolicy":"Fail","matchConditions":[{"name":"a","expression":"object.data.nothing == 'x'"}]}`)
		s.webhook(kind, kind+"-conditions-ignore", `{"failurePolicy":"Ignore","matchConditions":[{"name":"a","expression":"object.data.nothing == 'x'"}]}`)
		s.webhook(kind, kind+"-unmet", `{"matchConditions":[{"name":"a","expression":"request.userInfo.username == 'nobody'"}]}`)
		s.webhook(kind, kind+"-reviews", `{"admissionReviewVersions":["v1beta1","v1"]}`)
	}
	s.ready("validatingwebhook", "mutatingwebhook")
	for _, kind := range []string{"validating", "mutating"} {
		for _, hook := range []string{"fail", "ignore", "conditions", "conditions-ignore", "unmet"} {
			s.asks(kind+"-"+hook, answer.Fails)
		}
		s.asks(kind+"-ignore", `{"allowed":true,"uid":"other"}`, `{"allowed":false}`)
		s.asks(kind+"-reviews", `{"allowed":false,"status":{"message":"as ever"}}`, `{"allowed":true}`)
	}
}

func dryRuns(s *scene) {
	s.webhook("validating", "none", `{"sideEffects":"None"}`)
	s.webhook("validating", "dry", `{"sideEffects":"NoneOnDryRun","matchConditions":[{"name":"a","expression":"request.dryRun"}]}`)
	s.ready("validatingwebhook")
	s.asks("none", `{"allowed":false}`, `{"allowed":true}`)
	s.asks("dry", `{"allowed":false}`, `{"allowed":true}`)
	s.Add(story.Step{Method: "POST", Path: s.configMaps(), Body: `{"metadata":{"name":"kept","labels":{"hook":"dry"}},"data":{"answer":"{\"allowed\":false}"}}`})
	s.Add(story.Step{Method: "DELETE", Path: s.configMaps() + "/kept?dryRun=All"})
	s.Add(story.Step{Method: "GET", Path: s.configMaps() + "/kept"})
	for _, effects := range []string{"Some", "Unknown", ""} {
		s.Add(story.Step{Method: "POST", Path: registrations + "validatingwebhookconfigurations?dryRun=All", Body: `{"metadata":{"name":"effects"},"webhooks":[{"name":"a.example.com","clientConfig":{"url":"https://a.example.com"},"admissionReviewVersions":["v1"],"sideEffects":"` + effects + `"}]}`})
	}
}

// Ending is the path of a namespace that [Stories] make and remove, too.
const Ending = "/api/v1/namespaces/adm-ending"

func lifecycle(s *scene) {
	s.Add(story.Step{Method: "POST", Path: "/api/v1/namespaces/adm-absent/configmaps", Body: `{"metadata":{"name":"one"}}`})
	s.Add(story.Step{Method: "POST", Path: "/api/v1/namespaces/adm-absent/configmaps?dryRun=All", Body: `{"metadata":{"generateName":"one-"}}`})
	s.Add(story.Step{Method: "GET", Path: "/api/v1/namespaces/adm-absent/configmaps/one"})
	s.Add(story.Step{Method: "DELETE", Path: "/api/v1/namespaces/adm-absent/configmaps/one"})
	s.Add(story.Step{Method: "PATCH", Path: "/api/v1/namespaces/adm-absent/configmaps/one", Type: story.MergePatch, Body: `{}`})
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		s.Add(story.Step{Method: "DELETE", Path: "/api/v1/namespaces/" + name + "?dryRun=All", Brief: true})
	}
	s.brief("POST", "/api/v1/namespaces", `{"metadata":{"name":"adm-ending"}}`)
	held := Ending + "/configmaps"
	s.brief("POST", held, `{"metadata":{"name":"held","finalizers":["example.com/held"]}}`)
	s.brief("DELETE", Ending, "")
	s.Add(story.Step{Method: "POST", Path: held, Body: `{"metadata":{"name":"late"}}`})
	s.Add(story.Step{Method: "PATCH", Path: held + "/held", Type: story.MergePatch, Body: `{"data":{"a":"b"}}`, Brief: true})
	s.Add(story.Step{Method: "PATCH", Path: held + "/held", Type: story.MergePatch, Body: `{"metadata":{"finalizers":null}}`, Brief: true})
}
