package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Whichever request of a command is refused, that is told, and nothing is said to be done
// that is not.
func TestEachRequestThatIsRefusedIsTold(t *testing.T) {
	file := written(t, "m.wasm", "\x00asm\x01\x00\x00\x00")
	served := func(t *testing.T) *fakeGateway {
		g := withHistory(t, "", "sha256:333")
		g.contents[modulesPath+"/m@"+digestOf([]byte("x"))] = []byte("x")
		g.later(modulesPath+"/m", func(obj map[string]any) {
			obj["status"].(map[string]any)["revisions"] = []any{map[string]any{"digest": "sha256:333"}, map[string]any{"digest": digestOf([]byte("x"))}}
		})
		return g
	}
	waiting := func(t *testing.T) *fakeGateway { return withCandidate(t, reported("Completed", 0, 0)) }
	for _, c := range []struct {
		line  string
		world func(*testing.T) *fakeGateway
		least int    // how many requests there are
		done  string // what is printed in the end
	}{
		{"module list", served, 1, "m "},
		{"module history m", served, 1, "sha256:333"},
		{"module logs m", served, 1, "the log of m"},
		{"module get m --digest " + digestOf([]byte("x"))[:12], served, 2, "x"},
		{"module delete m", served, 2, "wasmmodule/m deleted"},
		{"module delete m --ignore-not-found", served, 2, "wasmmodule/m deleted"},
		{"module delete m --dry-run", served, 2, "can be deleted"},
		{"module rollback m", served, 3, "rolled back"},
		{"module push m " + file, served, 3, "wasmmodule/m"},
		{"module push m " + file + " --dry-run", served, 2, "can be uploaded (dry run)"},
		{"module push new " + file + " --dry-run", served, 2, "can be uploaded (dry run)"},
		{"module promote m", waiting, 3, "wasmmodule/m"},
		{"module promote m --dry-run", waiting, 2, "this is what came of it"},
		{"migrate ct", migrating, 2, " migrated: "},
		{"migrate ct --no-wait", migrating, 1, "created"},
		{"version-priority preview --module m example.com", served, 1, "example.com"},
	} {
		for number := int64(1); ; number++ {
			g := c.world(t)
			var asked atomic.Int64
			g.refused = func() bool { return asked.Add(1) == number }
			out, err := command(t, append(strings.Fields(c.line), "--timeout", "20s", "--kubeconfig", g.kubeconfig)...)
			what := fmt.Sprintf("%s, request %d of %d", c.line, number, asked.Load())
			if asked.Load() < number {
				if err != nil || !strings.Contains(out, c.done) || number <= int64(c.least) {
					t.Errorf("%s: nothing is refused: %v\n%s", what, err, out)
				}
				break
			}
			if err == nil || strings.Contains(err.Error(), "--timeout") || strings.Contains(out, c.done) {
				t.Errorf("%s: %v\n%s", what, err, out)
			}
		}
	}
}

// migrating is a gateway whose migrations are done at once.
func migrating(t *testing.T) *fakeGateway {
	g := newFakeGateway(t)
	g.changed = func(g *fakeGateway, path string, _ map[string]any) {
		go g.later(path, func(o map[string]any) { report(o, progress{}, cond("Succeeded", "True", "Done", "")) })
	}
	return g
}

// What a command changed is printed for programs as it is then.
func TestObjectsForPrograms(t *testing.T) {
	file := written(t, "m.wasm", "\x00asm\x01\x00\x00\x00")
	for line, c := range map[string]struct {
		world             *fakeGateway
		kind, name, state string // state is the reason of the last condition, "" for none
	}{
		"migrate ct":                           {migrating(t), "StorageVersionMigration", "crontabs.example.com-x7k2p", "Done"},
		"migrate ct --no-wait":                 {newFakeGateway(t), "StorageVersionMigration", "crontabs.example.com-x7k2p", ""},
		"module promote m":                     {withCandidate(t, reported("Completed", 0, 0)), "WasmModule", "m", "Serving"},
		"module rollback m":                    {withHistory(t, "", "sha256:333"), "WasmModule", "m", "Serving"},
		"module delete m --dry-run -o name":    {withModules(t, "m"), "", "wasmmodule.wasmgate.dev/m", ""},
		"module push m " + file + " --dry-run": {withHistory(t, "", "sha256:333"), "WasmModule", "m", "Serving"},
	} {
		args := strings.Fields(line)
		if c.kind != "" {
			args = append(args, "-o", "json")
		}
		out, err := command(t, append(args, "--kubeconfig", c.world.kubeconfig)...)
		if c.kind == "" {
			if err != nil || strings.TrimSpace(out) != c.name {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
			continue
		}
		_, object, _ := strings.Cut("\n"+out, "\n{")
		var obj unstructured.Unstructured
		if err != nil || json.Unmarshal([]byte("{"+object), &obj.Object) != nil || obj.GetKind() != c.kind || obj.GetName() != c.name {
			t.Errorf("%s: %v\n%s", line, err, out)
			continue
		}
		conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		state := ""
		if n := len(conditions); n > 0 {
			state, _ = conditions[n-1].(map[string]any)["reason"].(string)
		}
		if state != c.state {
			t.Errorf("%s: the state is %q, want %q", line, state, c.state)
		}
	}
}
