package guardreport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds"
)

// inFolder are guards of a folder with one module, whose labels are that long.
func inFolder(t *testing.T, long int) *guards.Guards {
	t.Helper()
	definitions, err := builtin.All(builtin.Options{EssentialOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- {name: " + guards.Modules + ", path: plugin.yaml}\n",
		"plugin.yaml": fmt.Sprintf("{apiVersion: wasmgate.dev/v1, kind: WasmModuleConfiguration, staticManifestsDir: %s}", dir+"/folder"),
		"folder/a.yaml": `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"a.static.k8s.io","annotations":{"a":"` +
			strings.Repeat("a", long) + `"}},"spec":{"source":{"upload":{}}}}`,
		"folder/a.static.k8s.io.wasm": "one",
		"folder/b.yaml": `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"b.static.k8s.io","annotations":{"b":"` +
			strings.Repeat("b", long/4) + `"}},"spec":{"source":{"inline":"AAAA"}}}`,
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := guards.New(t.Context(), guards.Config{Path: filepath.Join(dir, "config.yaml"), Allowed: true, Admits: func(string) bool { return true }, Definitions: definitions, Told: func(string, *guards.State, error) {}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A report has the objects of a folder without the contents of modules, and their names
// alone where that is too much.
func TestWhatAReportHasOfAFolder(t *testing.T) {
	for long, whole := range map[int]bool{10: true, 200 << 10: true, 250 << 10: false} {
		f := folderOf(guards.Modules, inFolder(t, long).Folder(guards.Modules))
		if f.Plugin != guards.Modules || f.Hash == "" || f.Path == "" || len(f.Objects) != 2 {
			t.Fatalf("%+v", f)
		}
		a, b := f.Objects[0], f.Objects[1]
		if a.Name != "a.static.k8s.io" || a.Kind != "WasmModule.wasmgate.dev" || a.ContentDigest != "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed" || b.ContentDigest != "" {
			t.Errorf("%+v, %+v", a, b)
		}
		if (a.Object != nil) != whole || (b.Object != nil) != whole {
			t.Errorf("%d: whole objects are there: %v", long, a.Object != nil)
		}
		if _, there, _ := unstructured.NestedString(b.Object, "spec", "source", "inline"); there {
			t.Error("the content is in the report")
		}
	}
}

// Of parameters a report has no more than their names, and a digest by which they can be
// told apart: who may see reports need not be allowed to read them.
func TestAReportHasNoParameters(t *testing.T) {
	definitions, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const plugin = "ValidatingAdmissionPolicy"
	digests := map[string]bool{}
	for _, secret := range []string{"aHVudGVyMg==", "aHVudGVyMw=="} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"config.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- {name: " + plugin + ", path: plugin.yaml}\n",
			"plugin.yaml": fmt.Sprintf("{apiVersion: apiserver.config.k8s.io/v1, kind: %sConfiguration, staticManifestsDir: %s}", plugin, dir+"/folder"),
			"folder/a.yaml": "{apiVersion: admissionregistration.k8s.io/v1, kind: " + plugin + ", metadata: {name: p.static.k8s.io}, spec: {validations: [{expression: 'true'}]," +
				" matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}}}\n" +
				"---\n{apiVersion: v1, kind: Secret, metadata: {name: token, namespace: default}, data: {token: " + secret + "}}\n",
		} {
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		all, err := guards.New(t.Context(), guards.Config{Path: filepath.Join(dir, "config.yaml"), Allowed: true, Admits: func(string) bool { return true }, Definitions: definitions, Told: func(string, *guards.State, error) {}})
		if err != nil {
			t.Fatal(err)
		}
		f := folderOf(plugin, all.Folder(plugin))
		if len(f.Objects) != 2 {
			t.Fatalf("%+v", f)
		}
		policy, parameter := f.Objects[0], f.Objects[1]
		if policy.Object == nil || parameter.Object != nil || parameter.Kind != "Secret" || parameter.Namespace != "default" || parameter.Name != "token" || strings.Contains(fmt.Sprintf("%+v", f), secret) {
			t.Errorf("%+v", f)
		}
		digests[parameter.ContentDigest] = true
	}
	if len(digests) != 2 || digests[""] {
		t.Errorf("the digests are %v", digests)
	}
}

func world() *controllertest.Objects {
	return controllertest.New(&crd.Definition{Group: reports.Group, Plural: reports.Resource, Kind: "GuardReport", StorageVersion: "v1", KeyPrefix: reports.Resource})
}

// A report that says nothing new is written now and then, to say that the gateway is there.
func TestReportsAreRenewedNowAndThen(t *testing.T) {
	objects, now := world(), time.Now().Truncate(time.Second)
	counted := &controllertest.Failing{Engine: objects}
	r := New(counted, inFolder(t, 1), "here:6443", func(string, int) {})
	r.now = func() time.Time { return now }
	other := func(hash string) {
		t.Helper()
		name := kinds.Identity("there:6443")
		tree := map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "GuardReport", "metadata": map[string]any{"name": name},
			"status": map[string]any{"gateway": "there:6443", "renewTime": now.UTC().Format(time.RFC3339), "folders": []any{map[string]any{"plugin": guards.Modules, "hash": hash}}}}
		objects.Smuggle(reports, tree)
	}
	says := func(written bool, want string) {
		t.Helper()
		counted.Calls = 0
		if err := r.Report(t.Context()); err != nil {
			t.Fatal(err)
		}
		o := controllertest.MustGet(t, objects, reports, "", kinds.Identity("here:6443"))
		status, reason, message := controllertest.Condition(o, "Drift")
		inForce, asOnDisk, _ := controllertest.Condition(o, "InForce")
		if got := fmt.Sprint(status, " ", reason, " ", message); got != want || inForce != "True" || asOnDisk != "AsOnDisk" || (counted.Calls == 2) != written {
			t.Errorf("%d calls, it says %q, want it written %v, %q; %s %s", counted.Calls, got, written, want, inForce, asOnDisk)
		}
	}
	says(true, "False SameEverywhere ")
	here := r.guards.Folder(guards.Modules).Current().Hash
	other(here)
	now = now.Add(renewEvery - time.Second)
	says(false, "False SameEverywhere ")
	now = now.Add(time.Second)
	says(true, "False SameEverywhere ")
}

// Whatever call fails, it is told, and another run reports; who was faster is no failure.
func TestFailuresToReportAreTold(t *testing.T) {
	controllertest.EachCallFails(t, 3, func() controllertest.Engine {
		o := world()
		for name, age := range map[string]time.Duration{"old": 2 * forgotten, "there": 0} {
			controllertest.MustCreate(t, o, reports, map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "GuardReport", "metadata": map[string]any{"name": name},
				"status": map[string]any{"gateway": name, "renewTime": time.Now().Add(-age).UTC().Format(time.RFC3339)}})
		}
		return o
	}, func(f *controllertest.Failing) error {
		return New(f, nil, "here:6443", func(string, int) {}).Report(t.Context())
	}, func(f *controllertest.Failing) error {
		if !controllertest.Gone(f.Engine, reports, "", "old") || controllertest.Gone(f.Engine, reports, "", kinds.Identity("here:6443")) {
			return errors.New("the old one is there, or its own is not")
		}
		return nil
	})
	f := &controllertest.Failing{Engine: world(), Number: 1}
	if err := New(f, nil, "here:6443", nil).Leave(t.Context()); !errors.Is(err, controllertest.ErrAway) {
		t.Errorf("that it stays is not told: %v", err)
	}
}
