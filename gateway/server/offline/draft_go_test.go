package offline_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
)

// everything is a definition whose versions differ in all that is drafted.
const everything = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [level]
            properties:
              replicas: {type: integer, format: int32, description: How many there are to be.}
              host: {type: string, pattern: "^[a-z]*$"}
              port: {type: integer, minimum: 1, maximum: 9}
              targetRef: {type: string, pattern: "^[a-z]+/[a-z]+$", description: "The target, namespace/name."}
              mode: {type: string, enum: [ReadOnly, ReadWrite]}
              timeout: {type: string, pattern: "^[0-9]{1,5}s$"}
              hosts: {type: array, minItems: 1, maxItems: 1, items: {type: string}}
              first: {type: string}
              level: {type: string, enum: [Low, High]}
              storage: {type: object, properties: {storageClassName: {type: string}}}
              listeners: {type: array, items: {type: object, required: [number], properties: {number: {type: integer, description: The number of it.}, kinds: {type: array, items: {type: string, enum: [A, B]}}}}}
              count: {type: string, pattern: "^[0-9]{1,6}$"}
              added: {type: object, properties: {a: {type: string}}}
              image: {type: object, properties: {repository: {type: string, pattern: "^[a-z]*$"}, tag: {type: string, pattern: "^[a-z]*$"}, pull: {type: boolean}}}
  - name: v1alpha1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicaCount: {type: integer, format: int32, description: How many there are to be.}
              hostPort: {type: string, pattern: "^[a-z]*:[1-9]$", description: "host:port"}
              name: {type: string, pattern: "^[a-z]+$"}
              namespace: {type: string, pattern: "^[a-z]+$"}
              mode: {type: string, enum: [read-only, read-write]}
              timeoutSeconds: {type: integer, minimum: 0, maximum: 99999}
              hosts: {type: string}
              first: {type: array, minItems: 1, maxItems: 1, items: {type: string}}
              storageClassName: {type: string}
              listeners: {type: array, items: {type: object, properties: {portNumber: {type: integer, description: The number of it.}, kinds: {type: array, items: {type: string, enum: [a, b]}}}}}
              count: {type: integer, minimum: 0, maximum: 99999}
              gone: {type: integer}
              image: {type: string, pattern: "^[a-z]+:[a-z]+$"}
`

// A module in Go that was drafted builds, and makes of every sample the same as the rules
// that were drafted; what it loses is told.
func TestAProjectInGo(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	made := drafted(t, dir, workbench.Draft{Language: "go", From: []byte(everything), SDK: root, Name: "gadgets"})
	source := string(filesOf(made, "conversion.go")[0])
	for _, step := range []string{"move(", "split(", "join(", "replace(", "toDuration(", "toCount(", "toList(", "fromList(", "toText(", "toValue(", "each(", "fill(", "empty(", "keep(", "restore("} {
		if !strings.Contains(source, step) {
			t.Errorf("no %s in\n%s", step, source)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-o", "m.wasm", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, source)
	}
	content, err := os.ReadFile(filepath.Join(dir, "m.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	m, crd := workbench.Module{Name: "m.wasm", Content: content}, filesOf(made, "crd.yaml")[0]
	tryAll(t, m, crd, made)
	found, err := offline.Tools{}.Prove(t.Context(), workbench.Proof{Module: m, Definitions: crd, Objects: 150, Budget: time.Minute, Seed: 1})
	if err != nil || found.Lossless != "False" {
		t.Errorf("%+v, %v", found, err)
	}
}

// drafted writes the files of a project into a folder.
func drafted(t *testing.T, dir string, what workbench.Draft) workbench.Drafted {
	t.Helper()
	made, err := offline.Tools{}.Draft(t.Context(), what)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// tryAll holds what a module makes of the samples of a project against its golden files.
func tryAll(t *testing.T, m workbench.Module, crd []byte, made workbench.Drafted) {
	t.Helper()
	what := workbench.Samples{Module: m, Definitions: crd}
	var golden [][]byte
	for _, f := range made.Files {
		if !strings.HasPrefix(f.Name, "samples/") && !strings.HasPrefix(f.Name, "golden/") {
			continue
		}
		object, err := yaml.YAMLToJSON(f.Content)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Name, "samples/") {
			what.Objects = append(what.Objects, object)
		} else {
			golden = append(golden, object)
		}
	}
	tried, err := offline.Tools{}.Try(t.Context(), what)
	if err != nil || len(tried) < 3 || len(golden) != len(tried) {
		t.Fatalf("%d samples, %d golden files, %v", len(tried), len(golden), err)
	}
	for i, s := range tried {
		if s.Problem != "" || len(s.Losses) > 0 {
			t.Errorf("%s: %+v", what.Objects[i], s)
			continue
		}
		if got, err := yaml.YAMLToJSON(s.Made[0].Object); err != nil || string(got) != string(golden[i]) {
			t.Errorf("%s becomes\n%s, and not\n%s", what.Objects[i], got, golden[i])
		}
	}
}
