package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/admissions"
)

// TestTableOfAdmission_CEL12_CEL13_CEL14_CEL20_DRY02_DRY04_DRY05 tells what
// policies and webhooks decide, and compares each reply with kube-apiserver's.
func TestTableOfAdmission_CEL12_CEL13_CEL14_CEL20_DRY02_DRY04_DRY05(t *testing.T) {
	hook := admissions.NewServer()
	t.Cleanup(hook.Close)
	s, stories := harness.Shared(t), admissions.Stories()
	tellAllVia(t, s, newTable(t, admissions.Table, s.External, stories), stories, hook.Via)
}

// uncalled is how it is told, within JSON, that a webhook gave no answer: a
// server does that in another way than a module.
var uncalled = regexp.MustCompile(`failed to call webhook: (?:[^"\\]|\\.)*`)

// TestTableOfAdmissionByModules_WP02 tells the stories of webhooks again, and
// the webhook is a module.
func TestTableOfAdmissionByModules_WP02(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	s := harness.Start(t, harness.Options{})
	pushModule(t, s.API(t), "answers", plugintest.Build(t, "github.com/wasmgate/wasmgate/test/story/admissions/module"))
	all := admissions.Stories()
	var stories []story.Story
	for _, told := range all {
		for _, step := range told.Steps {
			if strings.Contains(step.Body, admissions.Client) {
				stories = append(stories, told)
				break
			}
		}
	}
	c := newTable(t, admissions.Table, false, all)
	c.Ignored, c.Take = uncalled, false
	tellAllVia(t, &s.Server, c, stories, func(send story.Send) story.Send {
		return admissions.With(map[string]any{"url": "wasm://answers"}, send)
	})
}

// The status of a policy says what is wrong with it by the types of what it is
// about.
func TestTypesOfPoliciesAreChecked_CEL20(t *testing.T) {
	harness.SkipExternal(t) // there a controller manager does it
	api := harness.Shared(t).API(t)
	path := hooksPath + "validatingadmissionpolicies"
	name := "types-" + unique()
	api.Post(path, parse(t, `{"metadata":{"name":"`+name+`"},"spec":{"matchConstraints":{"resourceRules":[
		{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]},
		"validations":[{"expression":"object.data.size() > 1"},{"expression":"object.date == 1"}]}}`)).Want(201)
	t.Cleanup(func() { _, _ = api.Try("DELETE", path+"/"+name, nil) })
	r := api.Eventually(path+"/"+name, func(r *harness.Reply) bool { return r.Str("status.observedGeneration") == "1" })
	r.Equal("status.typeChecking.expressionWarnings.0.fieldRef", "spec.validations[1].expression")
	if w := r.Str("status.typeChecking.expressionWarnings.0.warning"); !strings.Contains(w, "/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'date'") || r.Str("status.typeChecking.expressionWarnings.1.warning") != "" {
		t.Errorf("warned %q", w)
	}
}
