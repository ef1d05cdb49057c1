package cli

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// withCandidate is a gateway with a module of which revision r2 waits, with that
// report, nil for none yet. What is promoted serves.
func withCandidate(t *testing.T, report map[string]any) *fakeGateway {
	t.Helper()
	g := newFakeGateway(t)
	candidate := map[string]any{"revision": "r2", "digest": "sha256:222"}
	if report != nil {
		candidate["report"] = report
	}
	waiting := map[string]any{
		"digest": "sha256:111", "candidate": candidate,
		"conditions": []any{cond(compiled, "False", awaitingPromotion, ""), cond(ready, "True", "PreviousRevision", "")},
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.set(modulesPath+"/m", map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule",
		"metadata": map[string]any{"name": "m"}, "spec": map[string]any{"rollout": "Shadow"}, "status": waiting})
	g.changed = func(g *fakeGateway, path string, obj map[string]any) {
		if promotion, _ := obj["metadata"].(map[string]any)["annotations"].(map[string]any)[promotedAnnotation].(string); strings.HasPrefix(promotion, "r2") {
			go g.later(path, func(o map[string]any) { o["status"] = servedBy("sha256:222", nil) })
		}
	}
	return g
}

func reported(state string, different, failed int) map[string]any {
	r := map[string]any{"state": state, "message": "this is what came of it", "conversions": 7, "different": different, "failed": failed}
	if different > 0 {
		r["differences"] = []any{map[string]any{"resource": "tabs", "from": "v1", "to": "v2", "path": "spec", "change": "Gone", "count": different, "example": "one/two"}}
		r["unlisted"] = 5
	}
	if failed > 0 {
		r["failures"] = []any{map[string]any{"object": "tabs one/two", "from": "v1", "to": "v2", "reason": "it cannot"}}
	}
	return r
}

// listed is a report of three conversions that differ at those paths, and nowhere else.
func listed(paths ...string) map[string]any {
	r := reported("Completed", 3, 0)
	delete(r, "unlisted")
	var all []any
	for _, path := range paths {
		all = append(all, map[string]any{"resource": "tabs", "from": "v1", "to": "v2", "path": path, "change": "Gone", "count": 3, "example": "one/two"})
	}
	r["differences"] = all
	return r
}

// What is promoted serves, or else why it does not is told: what came in between, and that it
// cannot be used.
func TestModulePromote_OfWhatDoesNotServe(t *testing.T) {
	waits := func(revision, digest string) map[string]any {
		return map[string]any{"digest": "sha256:111", "candidate": map[string]any{"revision": revision, "digest": digest},
			"conditions": []any{cond(compiled, "False", awaitingPromotion, ""), cond(ready, "True", "PreviousRevision", "")}}
	}
	for want, then := range map[string]map[string]any{
		"another revision of wasmmodule/m waits by now: sha256:333": waits("r3", "sha256:333"),
		"wasmmodule/m cannot be used: Compiled is False: Broken: it cannot start\nThe previous content stays in use: sha256:111": {"digest": "sha256:111",
			"conditions": []any{cond(compiled, "False", "Broken", "it cannot start"), cond(ready, "True", "PreviousRevision", "")}},
		"gave up waiting (--timeout): the revision was promoted and the gateway goes on with it; see it with: kubectl get wasmmodule m -o yaml": waits("r2", "sha256:222"),
	} {
		g := withCandidate(t, reported("Completed", 0, 0))
		g.changed = func(g *fakeGateway, path string, _ map[string]any) {
			go g.later(path, func(o map[string]any) {
				o["status"] = map[string]any{"digest": "sha256:111", "conditions": []any{cond(compiled, "False", stillCompiling, ""), cond(ready, "True", "PreviousRevision", "")}}
				go g.later(path, func(o map[string]any) { o["status"] = then })
			})
		}
		if _, err := command(t, "module", "promote", "m", "--timeout", "1s", "--kubeconfig", g.kubeconfig); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestModulePromote(t *testing.T) {
	const (
		says     = "this is what came of it\n"
		differs  = says + "RESOURCE   FROM   TO   FIELD   CHANGE   COUNT   EXAMPLE\ntabs       v1     v2   spec    Gone     3       one/two\n5 differences are in fields that are not listed\n"
		fails    = says + "OBJECT         FROM   TO   FAILURE\ntabs one/two   v1     v2   it cannot\n"
		promoted = "wasmmodule/m promoted: sha256:222\n"
	)
	for name, c := range map[string]struct {
		report    map[string]any
		flags     []string
		refused   string
		prints    string
		promotion any // nil for none
	}{
		"all is well":                      {reported("Completed", 0, 0), nil, "", says + promoted, "r2"},
		"only looked at":                   {reported("Completed", 3, 0), []string{"--dry-run"}, "", differs, nil},
		"it differs":                       {reported("Completed", 3, 0), nil, "3 of 7 conversions come out otherwise, so wasmmodule/m is not promoted, and the previous content stays in use; if that is what you want, promote it with --accept-differences", "", nil},
		"it differs, rightly":              {reported("Completed", 3, 0), []string{"--accept-differences"}, "", differs + promoted, "r2/differences=3"},
		"it differs where it may":          {listed("spec.a", "spec.b[*].c"), []string{"--accept", "spec.a,spec.b"}, "", "this is what came of it\nRESOURCE   FROM   TO   FIELD         CHANGE   COUNT   EXAMPLE\ntabs       v1     v2   spec.a        Gone     3       one/two\ntabs       v1     v2   spec.b[*].c   Gone     3       one/two\n" + promoted, "r2/differences=3"},
		"it differs elsewhere":             {listed("spec.a", "spec.ab"), []string{"--accept", "spec.a"}, "spec.ab come out otherwise, too, so wasmmodule/m is not promoted", "", nil},
		"it differs in what is not listed": {reported("Completed", 3, 0), []string{"--accept", "spec"}, "fields that are not listed come out otherwise, too", "", nil},
		"it fails":                         {reported("Completed", 0, 1), []string{"--accept-differences"}, "is not promoted", "", nil},
		"it does not end":                  {reported("Stopped", 0, 0), []string{"--accept-differences"}, "is not promoted", "", nil},
		"it cannot load":                   {reported("Refused", 0, 0), nil, "is not promoted", "", nil},
		"it fails, anyway":                 {reported("Completed", 0, 1), []string{"--force"}, "", fails + promoted, "r2/force"},
		"without a report":                 {nil, []string{"--force"}, "", promoted, "r2/force"},
		"before it is done":                {reported("Running", 0, 0), []string{"--force"}, "", says + promoted, "r2/force"},
		"it takes long":                    {reported("Running", 3, 1), []string{"--timeout", "1s"}, "so far conversions: 7, different: 3, failed: 1; see how far it is", "", nil},
		"it is being loaded":               {map[string]any{"state": "Running", "message": "it is being loaded"}, []string{"--timeout", "1s"}, "still being converted, nothing was compared yet: it is being loaded; see how far it is", "", nil},
		"nothing is known":                 {nil, []string{"--timeout", "1s"}, "still being converted, nothing was compared yet; see how far it is", "", nil},
	} {
		g := withCandidate(t, c.report)
		out, err := command(t, append([]string{"module", "promote", "m", "--kubeconfig", g.kubeconfig}, c.flags...)...)
		if c.prints != "" && (err != nil || out != c.prints) || c.prints == "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		annotations, _ := g.copy(modulesPath + "/m")["metadata"].(map[string]any)["annotations"].(map[string]any)
		if annotations[promotedAnnotation] != c.promotion {
			t.Errorf("%s: %v", name, annotations)
		}
	}
	lost := withCandidate(t, nil)
	lost.later(modulesPath+"/m", func(o map[string]any) {
		o["status"].(map[string]any)["conditions"] = []any{cond(compiled, "False", awaitingPromotion, ""), cond(ready, "False", awaitingPromotion, "it is lost; promote it with: promote m")}
	})
	if _, err := command(t, "module", "promote", "m", "--kubeconfig", lost.kubeconfig); err == nil || !strings.Contains(err.Error(), "nothing of wasmmodule/m serves that it could be compared with: it is lost; promote it with: promote m --force") {
		t.Errorf("nothing serves: %v", err)
	}
	odd := reported("Completed", 3, 0)
	odd["message"] = "one\x1b[2J"
	odd["differences"].([]any)[0].(map[string]any)["path"] = "spec.\x1b]0;x\a"
	if out, _ := command(t, "module", "promote", "m", "--dry-run", "--kubeconfig", withCandidate(t, odd).kubeconfig); !strings.HasPrefix(out, "one\ufffd[2J\n") || !strings.Contains(out, "spec.\ufffd]0;x\ufffd") {
		t.Errorf("a terminal would obey this: %q", out)
	}
	g := withCandidate(t, nil)
	g.later(modulesPath+"/m", func(o map[string]any) { o["status"] = servedBy("sha256:111", nil) })
	if _, err := command(t, "module", "promote", "m", "--kubeconfig", g.kubeconfig); err == nil || !strings.Contains(err.Error(), "no revision of wasmmodule/m waits") {
		t.Errorf("nothing waits: %v", err)
	}
}

// What was not reported on is not promoted: the same content may wait with
// another configuration by now.
func TestAnotherRevisionIsNotPromoted(t *testing.T) {
	g := withCandidate(t, reported("Completed", 0, 0))
	client, err := dynamic.NewForConfig(&rest.Config{Host: g.URL, BearerToken: "t"})
	if err != nil {
		t.Fatal(err)
	}
	modules := client.Resource(schema.GroupVersionResource{Group: "wasmgate.dev", Version: "v1", Resource: "wasmmodules"})
	for _, c := range []struct{ digest, revision string }{{"sha256:222", "r1"}, {"sha256:111", "r2"}, {"sha256:111", ""}} {
		if _, err := promote(t.Context(), modules, "m", c.digest, c.revision, ""); err == nil || !strings.Contains(err.Error(), "no longer waits to be promoted") {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, ok := g.copy(modulesPath + "/m")["metadata"].(map[string]any)["annotations"]; ok {
		t.Error("something was promoted")
	}
	if _, err := promote(t.Context(), modules, "m", "sha256:222", "", ""); err != nil {
		t.Error(err)
	}
}

// What the revision that waits loses is said, and not what another one does.
func TestPromotePrintsWhatIsLost(t *testing.T) {
	g := withCandidate(t, reported("Completed", 0, 0))
	g.later(modulesPath+"/m", func(o map[string]any) {
		status := o["status"].(map[string]any)
		status["candidate"].(map[string]any)["revision"] = "r2-1"
		status["proofs"] = []any{
			map[string]any{"revision": "r1", "definition": "others", "lossless": "False", "message": "Lost of spec.b"},
			map[string]any{"revision": "r2", "definition": "tabs", "lossless": "False", "message": "Lost of spec.a\n"},
			map[string]any{"revision": "r2", "definition": "fine", "lossless": "True"},
		}
	})
	out, err := command(t, "module", "promote", "m", "--dry-run", "--kubeconfig", g.kubeconfig)
	if want := "this is what came of it\nof customresourcedefinitions/tabs is lost: Lost of spec.a\n"; err != nil || out != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}
