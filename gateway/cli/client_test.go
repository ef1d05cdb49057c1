package cli

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/wasmgate/wasmgate/gateway/pki"
	"github.com/wasmgate/wasmgate/gateway/pki/kubeconfig"
)

// report plays the migration controller.
func report(obj map[string]any, p progress, conditions ...any) {
	text, _ := json.Marshal(p)
	obj["metadata"].(map[string]any)["annotations"] = map[string]any{progressAnnotation: string(text)}
	obj["status"] = map[string]any{"conditions": conditions}
}

func cond(name, value, reason, message string) any {
	return map[string]any{"type": name, "status": value, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z"}
}

func TestMigrate(t *testing.T) {
	for name, drop := range map[string]bool{"one watch": false, "watches that break": true} {
		t.Run(name, func(t *testing.T) {
			g := newFakeGateway(t)
			g.dropWatches = drop
			g.changed = func(g *fakeGateway, path string, obj map[string]any) {
				spec, _ := json.Marshal(obj["spec"])
				if string(spec) != `{"resource":{"group":"example.com","resource":"crontabs"}}` {
					t.Errorf("spec %s", spec)
				}
				go func() {
					g.later(path, func(o map[string]any) {
						report(o, progress{Total: 10, Done: 4, Rate: 2}, cond("Running", "True", "InProgress", ""))
					})
					g.later(path, func(o map[string]any) {
						report(o, progress{Total: 10, Done: 10, Rewritten: 7, Skipped: 3}, cond("Running", "False", "Done", ""), cond("Succeeded", "True", "Done", ""))
					})
				}()
			}
			for _, resource := range []string{"crontabs.example.com", "ct"} {
				g.mu.Lock()
				g.objects = map[string]map[string]any{}
				g.mu.Unlock()
				out, err := command(t, "migrate", resource, "--kubeconfig", g.kubeconfig)
				if err != nil || !strings.Contains(out, "crontabs.example.com migrated: 10 objects, 7 rewritten, 3 already at the storage version") {
					t.Errorf("%s: %v\n%s", resource, err, out)
				}
			}
		})
	}
}

// A state that says nothing of a migration ends the waiting.
func TestMigrate_AStateThatCannotBeRead(t *testing.T) {
	g := newFakeGateway(t)
	g.changed = func(g *fakeGateway, path string, _ map[string]any) {
		go g.later(path, func(o map[string]any) { o["status"] = "odd" })
	}
	if out, err := command(t, "migrate", "crontabs.example.com", "--kubeconfig", g.kubeconfig); err == nil || strings.Contains(err.Error(), "--timeout") || strings.Contains(out, "migrated") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestMigrate_FailureSaysWhatToDo(t *testing.T) {
	g := newFakeGateway(t)
	g.changed = func(g *fakeGateway, path string, _ map[string]any) {
		go g.later(path, func(o map[string]any) {
			report(o, progress{Total: 2, Done: 2, Failed: 1, Failures: []string{"default/broken"}}, cond("Failed", "True", "ConversionFailed", "1 object failed"))
		})
	}
	out, err := command(t, "migrate", "crontabs.example.com", "--kubeconfig", g.kubeconfig)
	if err == nil {
		t.Fatalf("no error:\n%s", out)
	}
	for _, want := range []string{"ConversionFailed: 1 object failed", "default/broken", "wasmgate migrate crontabs.example.com"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in %v", want, err)
		}
	}
}

func TestMigrate_Errors(t *testing.T) {
	g := newFakeGateway(t)
	if _, err := command(t, "migrate", "nonsense.example.com", "--kubeconfig", g.kubeconfig); err == nil || !strings.Contains(err.Error(), `serves no resource "nonsense.example.com"`) {
		t.Errorf("unknown resource: %v", err)
	}
	if out, err := command(t, "migrate", "configmaps", "--no-wait", "--kubeconfig", g.kubeconfig); err != nil || !strings.Contains(out, "storageversionmigration/configmaps-x7k2p created") {
		t.Errorf("--no-wait: %v %s", err, out)
	}
	if _, err := command(t, "migrate", "ct", "--no-wait", "--rate", "12.5", "--kubeconfig", g.kubeconfig); err != nil {
		t.Errorf("--rate: %v", err)
	}
	made, _ := json.Marshal(g.objects[migrationsPath+"/crontabs.example.com-x7k2p"]["metadata"])
	if !strings.Contains(string(made), `"annotations":{"migration.wasmgate.dev/rate":"12.5"}`) {
		t.Errorf("--rate: %s", made)
	}
	delete(g.objects, migrationsPath+"/crontabs.example.com-x7k2p")
	if _, err := command(t, "migrate", "ct", "--rate=-1", "--kubeconfig", g.kubeconfig); err == nil {
		t.Error("a negative rate was accepted")
	}
	if _, err := command(t, "migrate", "crontabs.example.com", "--timeout", "200ms", "--kubeconfig", g.kubeconfig); err == nil || !strings.Contains(err.Error(), "gave up waiting") || !strings.Contains(err.Error(), "goes on without this command") {
		t.Errorf("timeout: %v", err)
	}
	if _, err := command(t, "migrate"); err == nil {
		t.Error("no argument: accepted")
	}
}

// moduleGateway plays the module controller: content that begins with "bad" is
// refused.
func moduleGateway(t *testing.T) *fakeGateway {
	g := newFakeGateway(t)
	g.changed = func(g *fakeGateway, path string, _ map[string]any) {
		go g.later(path, func(o map[string]any) { // by then it may have changed again
			annotations, _ := o["metadata"].(map[string]any)["annotations"].(map[string]any)
			digest, _ := annotations[contentAnnotation].(string)
			content := string(g.contents[path])
			st, _ := o["status"].(map[string]any)
			served, _ := st["digest"].(string)
			switch {
			case digest == "":
				o["status"] = map[string]any{"conditions": []any{cond(compiled, "False", awaitingContent, "upload"), cond(ready, "False", awaitingContent, "upload")}}
			case strings.HasPrefix(content, "bad") && served != "":
				st["conditions"] = []any{cond(compiled, "False", "NotWasm", content+" is no module"), cond(ready, "True", "PreviousRevision", "")}
			case strings.HasPrefix(content, "bad"):
				o["status"] = map[string]any{"conditions": []any{cond(compiled, "False", "NotWasm", content+" is no module"), cond(ready, "False", "NotWasm", "")}}
			case strings.HasPrefix(content, "slow") && served == "":
				o["status"] = map[string]any{"conditions": []any{cond(compiled, "False", "Slow", "it goes on"), cond(ready, "False", "Slow", "")}}
				go g.later(path, func(o map[string]any) { o["status"] = servedStatus(digest, content) })
			default:
				o["status"] = servedStatus(digest, content)
			}
		})
	}
	return g
}

// servedStatus is the status of a module that serves.
func servedStatus(digest, content string) map[string]any {
	return map[string]any{"digest": digest, "size": len(content), "hooks": []any{"wasmgate_convert"},
		"conditions": []any{cond(compiled, "True", "Compiled", ""), cond(ready, "True", "Serving", "")}}
}

func (g *fakeGateway) push(t *testing.T, name, content string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.wasm")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return command(t, append([]string{"module", "push", name, file, "--kubeconfig", g.kubeconfig}, args...)...)
}

func TestModulePush(t *testing.T) {
	g := moduleGateway(t)
	out, err := g.push(t, "crontab", "good one")
	if err != nil || !strings.Contains(out, "wasmmodule/crontab ready: sha256:") || !strings.Contains(out, "8 bytes") {
		t.Fatalf("first: %v\n%s", err, out)
	}
	if out, err := g.push(t, "large", "slow one"); err != nil || !strings.Contains(out, "wasmmodule/large ready: sha256:") {
		t.Errorf("one that takes long to compile: %v\n%s", err, out)
	}
	_, err = g.push(t, "crontab", "bad one")
	if err == nil || !strings.Contains(err.Error(), "Compiled is False: NotWasm: bad one is no module") || !strings.Contains(err.Error(), "The previous content stays in use: sha256:") {
		t.Errorf("a bad revision: %v", err)
	}
	if _, err = g.push(t, "crontab", "bad one"); err == nil || !strings.Contains(err.Error(), "bad one is no module") {
		t.Errorf("the same bad revision again: %v", err)
	}
	if out, err = g.push(t, "crontab", "good two"); err != nil {
		t.Errorf("after a bad revision: %v\n%s", err, out)
	}
	if _, err = g.push(t, "other", "bad from the start"); err == nil || strings.Contains(err.Error(), "stays in use") {
		t.Errorf("bad from the start: %v", err)
	}
	if out, err = command(t, "module", "list", "--kubeconfig", g.kubeconfig); err != nil ||
		!strings.Contains(out, "crontab   True") || !strings.Contains(out, "convert") || !strings.Contains(out, "NotWasm") {
		t.Errorf("list: %v\n%s", err, out)
	}
}

func TestModulePush_WithoutWaiting(t *testing.T) {
	g := newFakeGateway(t)
	out, err := g.push(t, "m", "x", "--wait=false")
	if err != nil || !strings.Contains(out, "uploaded") {
		t.Errorf("%v %s", err, out)
	}
	if _, err := g.push(t, "m", "y", "--timeout", "200ms"); err == nil || !strings.Contains(err.Error(), "gave up waiting") {
		t.Errorf("a gateway that says nothing: %v", err)
	}
}

// A module is told to lack conversions once the content that lacks them serves: until
// then, it is the content before that does.
func TestModulePush_WarnsOfWhatServes(t *testing.T) {
	for name, c := range map[string]struct {
		waits  bool
		flags  []string
		warned bool
	}{
		"it serves":               {false, nil, true},
		"it waits to be promoted": {true, nil, false},
		"nobody waits for it":     {true, []string{"--wait=false"}, false},
	} {
		g := newFakeGateway(t)
		g.changed = func(g *fakeGateway, path string, obj map[string]any) {
			annotations, _ := obj["metadata"].(map[string]any)["annotations"].(map[string]any)
			digest, _ := annotations[contentAnnotation].(string)
			lacks := cond(conversionsComplete, "False", "ConversionMissing", "it needs v1 to v2")
			status := map[string]any{"digest": digest, "conditions": []any{cond(compiled, "True", "Compiled", ""), cond(ready, "True", "Serving", ""), lacks}}
			if c.waits {
				status = map[string]any{"digest": "sha256:before", "candidate": map[string]any{"revision": "r2", "digest": digest},
					"conditions": []any{cond(compiled, "False", awaitingPromotion, ""), cond(ready, "True", "PreviousRevision", ""), lacks}}
			}
			changed := g.copy(path)
			changed["status"] = status
			g.set(path, changed)
		}
		out, err := g.push(t, "m", "x", c.flags...)
		if err != nil || strings.Contains(out, "Warning: wasmmodule/m lacks conversions: it needs v1 to v2\n") != c.warned {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestModulePush_Errors(t *testing.T) {
	g := newFakeGateway(t)
	if _, err := g.push(t, "m", ""); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("empty file: %v", err)
	}
	if _, err := command(t, "module", "push", "m", filepath.Join(t.TempDir(), "none"), "--kubeconfig", g.kubeconfig); err == nil {
		t.Error("missing file: no error")
	}
	g.objects[modulesPath+"/inline"] = map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule",
		"metadata": map[string]any{"name": "inline", "resourceVersion": "1"}, "spec": map[string]any{"source": map[string]any{"inline": "AA=="}}}
	if _, err := g.push(t, "inline", "x"); err == nil || !strings.Contains(err.Error(), "does not take uploads") {
		t.Errorf("inline source: %v", err)
	}
	g.Close()
	want := "Nothing listens at " + g.URL + ", which " + g.kubeconfig + " names: is `wasmgate serve` running?"
	if _, err := g.push(t, "m", "x"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("no server: %v", err)
	}
}

// What a gateway cannot know, whoever typed the command is told: that they have
// the kubeconfig of another one.
func TestClient_OfAnotherGateway(t *testing.T) {
	g := newFakeGateway(t)
	g.strange = true
	want := g.URL + " does not accept the credentials in " + g.kubeconfig
	for _, args := range [][]string{{"module", "list"}, {"module", "logs", "m"}, {"migrate", "ct"}} {
		if _, err := command(t, append(args, "--kubeconfig", g.kubeconfig)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
	secure := httptest.NewTLSServer(g)
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	other, err := pki.SelfSigned(filepath.Join(t.TempDir(), "pki"), []string{"127.0.0.1"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := kubeconfig.Write(path, kubeconfig.Admin{Server: secure.URL, Trust: other.Trust(), Token: "t"}); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "module", "list", "--kubeconfig", path); err == nil || !strings.Contains(err.Error(), "is not of the authority that is in "+path) {
		t.Errorf("another authority: %v", err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, other.Trust(), 0o600); err != nil {
		t.Fatal(err)
	}
	withoutKubeconfig(t)
	const untrusted = "of no authority that this system trusts: name its own with --certificate-authority"
	named := []string{"--server", secure.URL, "--token", "t"}
	for want, args := range map[string][]string{
		untrusted: named,
		"of the authority that is in --certificate-authority: ":        append(named, "--certificate-authority", ca),
		secure.URL + " does not accept the credentials in --token":     append(named, "--insecure-skip-tls-verify"),
		secure.URL + " wants credentials: pass --kubeconfig, --token ": {"--server", secure.URL, "--insecure-skip-tls-verify"},
		"of the authority that is in " + path + ": ":                   {"--kubeconfig", path, "--token", "t"},
	} {
		if _, err := command(t, append([]string{"module", "list"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", args, err, want)
		}
	}
}

// withoutKubeconfig lets commands find no kubeconfig.
func withoutKubeconfig(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Chdir(t.TempDir())
	home := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = filepath.Join(t.TempDir(), "config")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = home })
}

// Variables count wherever flags do: in completions, and in commands that ask no
// gateway.
func TestVariablesAreLookedAtEverywhere(t *testing.T) {
	withoutKubeconfig(t)
	t.Setenv("WASMGATE_KUBECONFIG", newFakeGateway(t).kubeconfig)
	if out, err := command(t, "__complete", "module", "list", "--context", ""); err != nil || !strings.HasPrefix(out, "wasmgate\n") {
		t.Errorf("contexts: %v\n%s", err, out)
	}
	t.Setenv("WASMGATE_OUTPUT", "json")
	if out, err := command(t, "version"); err != nil || !strings.Contains(out, `"platform": `) {
		t.Errorf("version: %v\n%s", err, out)
	}
}

func TestModuleCommands_NameWhatIsNotThere(t *testing.T) {
	g := newFakeGateway(t)
	for _, args := range [][]string{{"history", "none"}, {"logs", "none"}, {"rollback", "none"}, {"promote", "none"}} {
		_, err := command(t, append(append([]string{"module"}, args...), "--kubeconfig", g.kubeconfig)...)
		if err == nil || !strings.Contains(err.Error(), `there is no module "none"; see: wasmgate module list`) {
			t.Errorf("%q: %v", args, err)
		}
	}
	plain := httptest.NewServer(http.NotFoundHandler()) // a server that has heard of no modules
	t.Cleanup(plain.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := kubeconfig.Write(path, kubeconfig.Admin{Server: plain.URL, Token: "t"}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"list"}, {"history", "m"}, {"logs", "m"}, {"rollback", "m"}, {"promote", "m"}} {
		_, err := command(t, append(append([]string{"module"}, args...), "--kubeconfig", path)...)
		if err == nil || !strings.Contains(err.Error(), "is it a wasmgate?") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// A first push that is refused leaves nothing behind, and another one what was
// there before.
func TestModulePush_RefusedLeavesNothingBehind(t *testing.T) {
	g := newFakeGateway(t)
	g.refuses = true
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("max: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--config", config}} {
		if _, err := g.push(t, "m", "x", args...); err == nil || err.Error() != "upload refused: no: Invalid" {
			t.Errorf("%v", err)
		}
		if len(g.objects) != 0 {
			t.Errorf("left behind: %v", g.objects)
		}
	}
	g.mu.Lock()
	g.set(modulesPath+"/m", newModuleObject("m").Object)
	g.mu.Unlock()
	for _, args := range [][]string{nil, {"--config", config}} {
		if _, err := g.push(t, "m", "x", args...); err == nil {
			t.Error("one that was there: not refused")
		}
		if spec := g.copy(modulesPath + "/m")["spec"].(map[string]any); spec["config"] != nil {
			t.Errorf("one that was there: %v", spec)
		}
	}
}

// With a configuration, content and configuration are asked for at once, and the
// configuration before is replaced.
func TestModulePush_WithAConfiguration(t *testing.T) {
	g := moduleGateway(t)
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, c := range []struct{ content, config, want string }{
		{"one", "max: 3\nold: true\n", `{"max":3,"old":true}`},
		{"two", `{"max": 4}`, `{"max":4}`},
		{"two", `[]`, `[]`},
	} {
		if out, err := g.push(t, "m", c.content, "--config", write(c.config)); err != nil || !strings.Contains(out, "wasmmodule/m ready") {
			t.Errorf("%s: %v %s", c.config, err, out)
		}
		if config, _ := json.Marshal(g.copy(modulesPath + "/m")["spec"].(map[string]any)["config"]); string(config) != c.want {
			t.Errorf("%s: %s", c.config, config)
		}
	}
	for text, want := range map[string]string{"": "has no configuration", "a: b: c": "config.yaml: "} {
		if _, err := g.push(t, "m", "three", "--config", write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := g.push(t, "m", "three", "--config", "none.yaml"); err == nil {
		t.Error("a file that is not there: accepted")
	}
}

func TestPairsOfVersions(t *testing.T) {
	for want, all := range map[string][]moduleConversion{
		"":                          nil,
		"v1->v2":                    {{"", "v1", "v2"}},
		"v1<->v2":                   {{"", "v1", "v2"}, {"", "v2", "v1"}},
		"K:v1<->v2,v1->v2":          {{"K", "v1", "v2"}, {"K", "v2", "v1"}, {"", "v1", "v2"}},
		"a->b,b->c,c->d,and 2 more": {{"", "a", "b"}, {"", "b", "c"}, {"", "c", "d"}, {"", "d", "e"}, {"", "e", "f"}},
	} {
		if got := pairs(all, maxPairs); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A module that serves says in the list why its newest content does not.
func TestModuleList_Reasons(t *testing.T) {
	g := newFakeGateway(t)
	for name, conditions := range map[string][]any{
		"fine":     {cond(compiled, "True", "Compiled", ""), cond(ready, "True", "Serving", "")},
		"waiting":  {cond(compiled, "False", "AwaitingPromotion", ""), cond(ready, "True", "PreviousRevision", "")},
		"empty":    {cond(compiled, "False", "ContentMissing", ""), cond(ready, "False", "ContentMissing", "")},
		"image":    {cond(compiled, "False", "ContentMissing", ""), cond(ready, "False", "ContentMissing", ""), cond(pulled, "False", "PullFailed", "")},
		"fresh":    {},
		"uncalled": {cond(compiled, "True", "Compiled", ""), cond(ready, "True", "Serving", ""), cond("Healthy", "Unknown", "NoCalls", "")},
		"failing":  {cond(compiled, "True", "Compiled", ""), cond(ready, "True", "Serving", ""), cond("Healthy", "False", "CallsFail", "")},
		"lacking":  {cond(compiled, "True", "Compiled", ""), cond(ready, "True", "Serving", ""), cond("ConversionsComplete", "False", "ConversionMissing", "")},
	} {
		g.mu.Lock()
		g.set(modulesPath+"/"+name, map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule",
			"metadata": map[string]any{"name": name}, "status": map[string]any{"conditions": conditions}})
		g.mu.Unlock()
	}
	out, err := command(t, "module", "list", "--kubeconfig", g.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"fine": `True +0 +\S+`, "waiting": `True .*AwaitingPromotion`, "empty": `False .*ContentMissing`, "image": `False .*PullFailed`, "fresh": `Unknown +0 +\S+`, "uncalled": `True +0 +\S+`, "failing": `True .*CallsFail`, "lacking": `True .*ConversionMissing`} {
		if !regexp.MustCompile(`(?m)^` + name + ` +` + want + ` *$`).MatchString(out) {
			t.Errorf("%s is not %s:\n%s", name, want, out)
		}
	}
}
