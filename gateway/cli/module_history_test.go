package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// withHistory is a gateway with a module that served r1, r2, and serves r3.
func withHistory(t *testing.T, spec string, present string) *fakeGateway {
	t.Helper()
	g := newFakeGateway(t)
	var revisions []any
	for i, digest := range []string{"sha256:333", "sha256:222", "sha256:2111"} {
		revisions = append(revisions, map[string]any{"digest": digest, "size": 10 + i, "since": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)})
	}
	upload := map[string]any{}
	if spec != "" {
		upload["digest"] = spec
	}
	obj := map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule",
		"metadata": map[string]any{"name": "m", "annotations": map[string]any{contentAnnotation: present}},
		"spec":     map[string]any{"source": map[string]any{"upload": upload}},
		"status":   servedBy("sha256:333", revisions)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.set(modulesPath+"/m", obj)
	g.changed = func(g *fakeGateway, path string, obj map[string]any) {
		wanted := obj["spec"].(map[string]any)["source"].(map[string]any)["upload"].(map[string]any)["digest"]
		if wanted == nil {
			wanted = obj["metadata"].(map[string]any)["annotations"].(map[string]any)[contentAnnotation]
		}
		go g.later(path, func(o map[string]any) { o["status"] = servedBy(fmt.Sprint(wanted), revisions) })
	}
	return g
}

func servedBy(digest string, revisions []any) map[string]any {
	return map[string]any{"digest": digest, "revisions": revisions, "conditions": []any{cond(compiled, "True", "Compiled", ""), cond(ready, "True", "Serving", "")}}
}

func TestModuleHistory(t *testing.T) {
	g := withHistory(t, "", "sha256:333")
	out, err := command(t, "module", "history", "m", "--kubeconfig", g.kubeconfig)
	want := "DIGEST        SIZE   IN USE SINCE   IN USE\nsha256:333    10     60m ago        yes\nsha256:222    11     60m ago        \nsha256:2111   12     60m ago        \n"
	if err != nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := command(t, "module", "history", "none", "--kubeconfig", g.kubeconfig); err == nil {
		t.Error("a module that is not there has a history")
	}
}

func TestModuleRollback(t *testing.T) {
	const rolled, dropped = "rolled back: ", "; content sha256:bad, which did not serve, was dropped"
	for name, c := range map[string]struct {
		pin, present, digest, want, says, more string
	}{
		"from what serves":           {"", "sha256:333", "", "sha256:222", rolled, ""},
		"with newer that is refused": {"", "sha256:bad", "", "sha256:222", rolled, dropped},
		"from newer to what serves":  {"", "sha256:bad", "333", "sha256:333", "keeps serving: ", dropped},
		"to a digest":                {"", "sha256:333", "21", "sha256:2111", rolled, ""},
		"to a whole digest":          {"", "sha256:333", "sha256:222", "sha256:222", rolled, ""},
		"from a pin":                 {"sha256:333", "sha256:222", "", "sha256:222", rolled, ""},
		"from a pin that is refused": {"sha256:bad", "sha256:333", "", "sha256:222", rolled, dropped},
		"from a pin to a digest":     {"sha256:333", "", "2111", "sha256:2111", rolled, ""},
	} {
		g := withHistory(t, c.pin, c.present)
		args := []string{"module", "rollback", "m", "--kubeconfig", g.kubeconfig}
		if c.digest != "" {
			args = append(args, c.digest)
		}
		out, err := command(t, args...)
		if err != nil || out != "wasmmodule/m "+c.says+c.want+c.more+"\n" {
			t.Errorf("%s: %v %s", name, err, out)
		}
		obj := g.copy(modulesPath + "/m")
		annotation := obj["metadata"].(map[string]any)["annotations"].(map[string]any)[contentAnnotation]
		pin := obj["spec"].(map[string]any)["source"].(map[string]any)["upload"].(map[string]any)["digest"]
		if c.pin == "" && (annotation != c.want || pin != nil) || c.pin != "" && (pin != c.want || annotation != c.present) {
			t.Errorf("%s: annotation %v, pin %v", name, annotation, pin)
		}
	}
}

// What somebody pushes while a module is rolled back is not dropped without a word.
func TestModuleRollback_SeesWhatIsPushed(t *testing.T) {
	g := withHistory(t, "", "sha256:333")
	pushed := false
	g.before = func(g *fakeGateway, path string) {
		if !pushed {
			pushed = true
			obj := g.copy(path)
			obj["metadata"].(map[string]any)["annotations"] = map[string]any{contentAnnotation: "sha256:new"}
			g.set(path, obj)
		}
	}
	out, err := command(t, "module", "rollback", "m", "--kubeconfig", g.kubeconfig)
	if err != nil || out != "wasmmodule/m rolled back: sha256:222; content sha256:new, which did not serve, was dropped\n" {
		t.Errorf("%v %s", err, out)
	}
	g.before = func(g *fakeGateway, path string) { g.set(path, g.copy(path)) }
	if _, err = command(t, "module", "rollback", "m", "--kubeconfig", g.kubeconfig); err == nil || !strings.Contains(err.Error(), "Conflict") {
		t.Errorf("a module that is changed all the time: %v", err)
	}
}

// What the server does not let anybody change is not rolled back.
func TestModuleRollback_NotAllowed(t *testing.T) {
	g := withHistory(t, "", "sha256:333")
	g.frozen = true
	if out, err := command(t, "module", "rollback", "m", "--kubeconfig", g.kubeconfig); err == nil || !strings.Contains(err.Error(), "no: Forbidden") || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
	g.frozen = false
	g.changed = func(g *fakeGateway, path string, _ map[string]any) {
		go g.later(path, func(o map[string]any) {
			o["status"] = map[string]any{"digest": "sha256:333", "conditions": []any{cond(compiled, "False", "Broken", "it cannot start"), cond(ready, "True", "PreviousRevision", "")}}
		})
	}
	if out, err := command(t, "module", "rollback", "m", "--kubeconfig", g.kubeconfig); err == nil || !strings.Contains(err.Error(), "Compiled is False: Broken: it cannot start") || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestModuleRollbackRefuses(t *testing.T) {
	g := withHistory(t, "", "sha256:333")
	inline := g.copy(modulesPath + "/m")
	inline["metadata"].(map[string]any)["name"] = "inline"
	inline["spec"] = map[string]any{"source": map[string]any{"inline": "AA=="}}
	fresh := g.copy(modulesPath + "/m")
	fresh["metadata"].(map[string]any)["name"] = "fresh"
	fresh["status"] = map[string]any{}
	g.mu.Lock()
	g.set(modulesPath+"/inline", inline)
	g.set(modulesPath+"/fresh", fresh)
	g.mu.Unlock()
	for want, args := range map[string][]string{
		"no: NotFound": {"none"},
		"the content of wasmmodule/inline is in its spec.source":                                  {"inline"},
		"wasmmodule/fresh: no other content was in use before":                                    {"fresh"},
		`wasmmodule/m: the digests of 2 contents begin with "2"`:                                  {"m", "2"},
		`wasmmodule/m: no other content that was in use before has a digest that begins with "3"`: {"m", "3"},
	} {
		if out, err := command(t, append([]string{"module", "rollback", "--kubeconfig", g.kubeconfig}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v %s", args, err, out)
		}
	}
}
