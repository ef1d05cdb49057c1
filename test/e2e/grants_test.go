package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// A module sees the objects that it was granted, as they are when it asks, and no
// others; and none once that was taken back.
func TestModulesLookUpWhatTheyWereGranted_WP02(t *testing.T) {
	harness.SkipExternal(t)
	a := newAdmitted(t)
	module := "lookups-" + unique()
	pushModule(t, a.api, module, harness.Module(t, "testdata/lookups"))
	grant := func(grants string) {
		t.Helper()
		generation := a.api.Merge(modulePath+"/"+module, parse(t, `{"spec":{"grants":`+grants+`}}`)).Want(200).Str("metadata.generation")
		a.api.Eventually(modulePath+"/"+module, func(r *harness.Reply) bool { return r.Str("status.observedGeneration") == generation })
	}
	a.mutating(a.hook("looks", `{"clientConfig":{"url":"wasm://`+module+`"}}`))
	look := func(what, says string) {
		t.Helper()
		cm := configMap(t, a.ns, "c-"+unique(), `{}`).Set("data.look", what)
		r := a.api.Post(configMaps(a.ns), cm)
		if got := r.Str("data.said") + r.Str("message"); !strings.Contains(got, says) || r.Str("data.said") != "" != (r.Code == 201) {
			t.Errorf("%s: %d %q, want %q", what, r.Code, got, says)
		}
	}
	name := "rules-" + unique()
	a.api.Post(configMaps("default"), configMap(t, "default", name, `{"say":"first"}`)).Want(201)
	t.Cleanup(func() { _, _ = a.api.Try("DELETE", configMaps("default")+"/"+name, nil) })
	path, none := "/configmaps/default/"+name, "is not granted to the module "+module+" by spec.grants"

	look(path, path+" "+none)
	grant(`[{"resource":"configmaps","namespace":"default","names":["` + name + `","absent-` + name + `"]},{"resource":"namespaces","names":["*"]}]`)
	look(path, "ConfigMap first")
	look("/configmaps/default/absent-"+name, "there is none")
	look("/namespaces//"+a.ns, "Namespace ")
	look("/configmaps/"+a.ns+"/"+name, none)
	look("/secrets/default/"+name, none)
	look("apps/configmaps/default/"+name, none)
	a.api.Merge(configMaps("default")+"/"+name, parse(t, `{"data":{"say":"second"}}`)).Want(200)
	harness.Eventually(t, "the new state", func() bool {
		cm := configMap(t, a.ns, "c", `{}`).Set("data.look", path)
		return a.api.Post(configMaps(a.ns)+"?dryRun=All", cm).Want(201).Str("data.said") == "ConfigMap second"
	})
	grant(`null`)
	look(path, none)

	metrics := string(a.api.Get("/metrics").Want(200).Body)
	for _, outcome := range []string{"found", "none", "refused"} {
		if !strings.Contains(metrics, `wasmgate_plugin_lookups_total{module="`+module+`",outcome="`+outcome+`"}`) {
			t.Errorf("no lookups with the outcome %s in the metrics", outcome)
		}
	}
	for grants, why := range map[string]string{
		`[{"resource":"configmaps"}]`:                                        "spec.grants[0].names",
		`[{"resource":"configmaps","names":[]}]`:                             "spec.grants[0].names",
		`[{"names":["a"]}]`:                                                  "spec.grants[0].resource",
		`[{"resource":"configmaps","namespace":"A B","names":["a"]}]`:        "spec.grants[0].namespace",
		`[{"resource":"config/maps","namespace":"a","names":["a"]}]`:         "spec.grants[0].resource",
		`[{"resource":"configmaps","namespace":"a","names":["a/b"]}]`:        "spec.grants[0].names[0]",
		`[{"resource":"configmaps","namespace":"a","names":["a"],"verb":1}]`: "",
	} {
		r := a.api.Merge(modulePath+"/"+module+"?dryRun=All", parse(t, `{"spec":{"grants":`+grants+`}}`))
		if why == "" {
			r.Want(200)
		} else {
			r.WantStatus(422, "Invalid", why)
		}
	}
}
