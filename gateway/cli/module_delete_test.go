package cli

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// withModules is a gateway that has modules of names, each with its name as UID.
func withModules(t *testing.T, names ...string) *fakeGateway {
	t.Helper()
	g := newFakeGateway(t)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range names {
		obj := newModuleObject(name)
		obj.SetUID(types.UID(name))
		g.set(modulesPath+"/"+name, obj.Object)
	}
	return g
}

// What is deleted is gone, what cannot be is told, and the others go nevertheless.
func TestModuleDelete(t *testing.T) {
	const missing = `there is no module "b"; see: wasmgate module list`
	for line, c := range map[string]struct {
		says, fails string
		left        string
	}{
		"a":                            {"wasmmodule/a deleted\n", "", "c"},
		"a c":                          {"wasmmodule/a deleted\nwasmmodule/c deleted\n", "", ""},
		"a b c":                        {"wasmmodule/a deleted\nwasmmodule/c deleted\n", missing, ""},
		"b a":                          {"wasmmodule/a deleted\n", missing, "c"},
		"b a --ignore-not-found":       {"wasmmodule/a deleted\n", "", "c"},
		"b --ignore-not-found -o name": {"", "", "a c"},
		"a --dry-run":                  {"wasmmodule/a can be deleted (dry run)\n", "", "a c"},
		"b --dry-run":                  {"", missing, "a c"},
		"a -o name":                    {"wasmmodule.wasmgate.dev/a\n", "", "c"},
		"a --wait=false":               {"wasmmodule/a deleted\n", "", "c"},
		"":                             {"", "an argument is missing", "a c"},
	} {
		g := withModules(t, "a", "c")
		out, err := command(t, append(append([]string{"module", "delete"}, strings.Fields(line)...), "--kubeconfig", g.kubeconfig)...)
		if out != c.says || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		for _, name := range []string{"a", "c"} {
			if _, is := g.objects[modulesPath+"/"+name]; is != strings.Contains(c.left, name) {
				t.Errorf("%s: %s is there: %v", line, name, is)
			}
		}
	}
}

// A server that has no modules is not one whose module is not there.
func TestModuleDelete_OfAServerWithoutModules(t *testing.T) {
	g := newFakeGateway(t)
	g.knowsNoModules = true
	if _, err := command(t, "module", "delete", "a", "--ignore-not-found", "--kubeconfig", g.kubeconfig); err == nil || !strings.Contains(err.Error(), "is it a wasmgate?") {
		t.Errorf("%v", err)
	}
}

// A module that is held is waited for, until it is gone or there is another one of its name,
// and for as long as --timeout says.
func TestModuleDelete_WaitsForWhatIsHeld(t *testing.T) {
	ended := map[string]func(g *fakeGateway){
		"it goes": func(g *fakeGateway) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.drop(modulesPath + "/a")
		},
		"there is another one": func(g *fakeGateway) {
			g.later(modulesPath+"/a", func(obj map[string]any) { obj["metadata"].(map[string]any)["uid"] = "other" })
		},
	}
	for name, end := range ended {
		g := withModules(t, "a")
		g.holds = true
		g.watched = func() {
			g.later(modulesPath+"/a", func(obj map[string]any) {
				obj["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
			})
			end(g)
		}
		if out, err := command(t, "module", "delete", "a", "--kubeconfig", g.kubeconfig); err != nil || out != "wasmmodule/a deleted\n" {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	g := withModules(t, "a")
	g.holds = true
	out, err := command(t, "module", "delete", "a", "--timeout=100ms", "--kubeconfig", g.kubeconfig)
	if want := "gave up waiting (--timeout): the deletion was accepted; see what holds it up with: kubectl get wasmmodule a -o yaml"; err == nil || err.Error() != want || out != "" {
		t.Errorf("held for longer: %v\n%s", err, out)
	}
	if out, err = command(t, "module", "delete", "a", "--wait=false", "--kubeconfig", g.kubeconfig); err != nil || out != "wasmmodule/a deleted\n" {
		t.Errorf("not waited for: %v\n%s", err, out)
	}
}
