// Package admissions owns a table of what admission decides: policies, webhooks
// and namespaces, told as stories. kube-apiserver's answers are in test/recorded;
// test/cmd/record writes them. The webhooks are package answer.
//
// It must not know how a server decides, nor which one is asked.
package admissions

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "admissions"

// Client stands in the bodies of requests for the clientConfig of the webhook.
const Client = `"CLIENT"`

const registrations = "/apis/admissionregistration.k8s.io/v1/"

// Stories are all of them.
func Stories() []story.Story {
	var all []story.Story
	for _, s := range []struct {
		name string
		tell func(*scene)
	}{
		{"CEL-20 validations and their messages", validations},
		{"CEL-20 failure policies of validations", failures},
		{"CEL-20 actions and several bindings", actions},
		{"CEL-20 parameters", parameters},
		{"CEL-20 parameters of an unknown kind", unknownParameters},
		{"CEL-20 what policies are about", constraints},
		{"CEL-20 conditions of policies", conditions},
		{"CEL-12 CEL-13 CEL-14 what expressions see", variables},
		{"DRY-02 mutations", mutations},
		{"DRY-02 mutations that fail", badMutations},
		{"DRY-02 mutations asked again", again},
		{"DRY-02 the order of admission", order},
		{"WP-02 answers of validating webhooks", answers},
		{"WP-02 answers of mutating webhooks", patches},
		{"WP-02 failure policies of webhooks", webhookFailures},
		{"DRY-04 DRY-05 dry runs", dryRuns},
		{"WP-02 what webhooks are asked about", asked},
		{"namespaces that come and go", lifecycle},
	} {
		sc := &scene{Story: story.Story{Name: s.name}}
		sc.Base = Namespace(sc.Story)
		sc.ns = path.Base(sc.Base)
		sc.brief("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+sc.ns+`","labels":{"scene":"`+sc.ns+`"}}}`)
		s.tell(sc)
		sc.end()
		all = append(all, sc.Story)
	}
	return all
}

// inOrder are the entries of a map in an order that is always the same.
func inOrder(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

// scene is a story that is being written. It has a namespace of its own, and
// what it installs is about that one only.
type scene struct {
	story.Story
	ns        string
	installed []string // paths
}

// brief is a request that only has to succeed.
func (s *scene) brief(method, path, body string) {
	s.Add(story.Step{Method: method, Path: path, Body: body, Brief: true})
}

func (s *scene) install(plural, name, rest string) {
	name = s.ns + "-" + name
	s.brief("POST", registrations+plural, `{"metadata":{"name":"`+name+`"},`+rest+`}`)
	s.installed = append(s.installed, registrations+plural+"/"+name)
}

// here is what selects the namespace of the scene.
func (s *scene) here() string {
	return `"namespaceSelector":{"matchLabels":{"scene":"` + s.ns + `"}}`
}

const configMaps = `"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]`

// policy is a policy of a kind, "validating" or "mutating"; match and spec are
// parts of it.
func (s *scene) policy(kind, name, match, spec string) {
	if match == "" {
		match = configMaps
	}
	if kind == "mutating" {
		match = strings.ReplaceAll(match, `"operations":["*"]`, `"operations":["CREATE","UPDATE"]`)
	}
	s.install(kind+"admissionpolicies", name, `"spec":{"matchConstraints":{`+match+`,`+s.here()+`},`+spec+`}`)
}

// bind puts a policy in force; rest is a part of the binding's spec.
func (s *scene) bind(kind, name, policy, rest string) {
	if kind == "validating" && !strings.Contains(rest, "validationActions") {
		rest += `,"validationActions":["Deny"]`
	}
	s.install(kind+"admissionpolicybindings", name, `"spec":{"policyName":"`+s.ns+"-"+policy+`"`+rest+`}`)
}

// validate puts a policy in force by a binding of its name.
func (s *scene) validate(name, spec string) {
	s.policy("validating", name, "", spec)
	s.bind("validating", name, name, "")
}

// webhook is a configuration of one webhook of a kind, about ConfigMaps with
// the label hook=NAME; rest changes it.
func (s *scene) webhook(kind, name, rest string) {
	hook := map[string]any{
		"name": name + ".example.com", "sideEffects": "None", "admissionReviewVersions": []string{"v1"}, "clientConfig": "CLIENT",
		"rules":             []any{map[string]any{"operations": []string{"*"}, "apiGroups": []string{""}, "apiVersions": []string{"v1"}, "resources": []string{"configmaps"}}},
		"namespaceSelector": map[string]any{"matchLabels": map[string]string{"scene": s.ns}}, "objectSelector": map[string]any{"matchLabels": map[string]string{"hook": name}},
	}
	if err := json.Unmarshal([]byte(rest), &hook); rest != "" && err != nil {
		panic(err) // stories are written here
	}
	text, err := json.Marshal(hook)
	if err != nil {
		panic(err)
	}
	s.install(kind+"webhookconfigurations", name, `"webhooks":[`+string(text)+`]`)
}

// ready waits until all that was installed is in force: whoever knows of what
// was installed last, knows of the rest.
func (s *scene) ready(kinds ...string) {
	for i, kind := range kinds {
		id := fmt.Sprintf("ready-%d", i)
		probe := `{"metadata":{"name":"` + id + `","labels":{"` + id + `":"x"}}}`
		until := "known " + id
		selector := `"objectSelector":{"matchLabels":{"` + id + `":"x"}}`
		switch kind {
		case "validating":
			s.policy(kind, id, configMaps+","+selector, `"validations":[{"expression":"false","message":"`+until+`"}]`)
			s.bind(kind, id, id, "")
		case "mutating":
			s.policy(kind, id, configMaps+","+selector, `"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{metadata: Object.metadata{annotations: {'a': '`+until+`'}}}"}}]`)
			s.bind(kind, id, id, "")
		case "validatingwebhook", "mutatingwebhook":
			s.webhook(strings.TrimSuffix(kind, "webhook"), id, `{`+selector+`}`)
			probe = `{"metadata":{"name":"` + id + `","labels":{"` + id + `":"x"}},"data":{"answer":"{\"allowed\":false,\"status\":{\"message\":\"` + until + `\"}}"}}`
			until = "denied the request: " + until // what is let in has the message in it, too
		}
		last := &s.Steps[len(s.Steps)-1]
		last.Await = &story.Step{Method: "POST", Path: s.configMaps() + "?dryRun=All", Type: story.JSON, Body: probe, Until: until}
	}
}

// end removes what was installed.
func (s *scene) end() {
	for _, path := range s.installed {
		s.brief("DELETE", path, "")
	}
	// Policies are in force for a moment after they are gone.
	s.Add(story.Step{Method: "DELETE", Path: s.configMaps(), Until: `"kind":"ConfigMapList"`, Brief: true})
	s.brief("DELETE", Namespace(s.Story), "")
}

// Namespace is the path of the namespace that a story makes and removes. A
// server without controllers only marks it as deleted.
func Namespace(s story.Story) string {
	return "/api/v1/namespaces/adm-" + strings.SplitN(s.Group(), ".", 2)[0]
}

func (s *scene) configMaps() string { return "/api/v1/namespaces/" + s.ns + "/configmaps" }

// create tries to create a ConfigMap, and keeps nothing.
func (s *scene) create(rest string) {
	s.Add(story.Step{Method: "POST", Path: s.configMaps() + "?dryRun=All", Body: `{"apiVersion":"v1","kind":"ConfigMap",` + rest + `}`})
}

// named is a ConfigMap with data.
func named(name string, data map[string]string) string {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return `"metadata":{"name":"` + name + `"},"data":` + string(text)
}
