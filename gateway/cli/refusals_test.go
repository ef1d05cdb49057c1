package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
)

// A variable whose value is none for its flag is a mistake, whichever the command.
func TestVariablesAreCheckedByEveryCommand(t *testing.T) {
	b, dir, all := &bench{}, t.TempDir(), 0
	walk(New(Parts{Tools: b}), nil, func(cmd *cobra.Command, typed []string) {
		for _, flag := range []string{"output", "force", "timeout", "json", "update", "replace", "samples", "secure-port", "budget", "log-format", "wait"} {
			if f := cmd.Flags().Lookup(flag); f == nil || f.Value.Type() == "string" || f.Value.Type() == "stringSlice" {
				continue
			}
			variable := envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
			t.Run(strings.Join(typed, " ")+" "+variable, func(t *testing.T) {
				t.Chdir(dir)
				t.Setenv(variable, "bad")
				args := typed
				for cmd.ValidateArgs(args[len(typed):]) != nil {
					args = append(args[:len(args):len(args)], "x.1")
				}
				all++
				if out, exit, err := b.run(t, args...); exit != statusMistake || err == nil || !strings.HasPrefix(err.Error(), "environment variable "+variable+": ") || out != "" {
					t.Errorf("%d, %v\n%s", exit, err, out)
				}
			})
			return
		}
	})
	if all < 20 {
		t.Errorf("only %d commands have such flags", all)
	}
}

// A file that is not there is named, and nothing is done.
func TestFilesThatAreNotThereAreNamed(t *testing.T) {
	none, dir := filepath.Join(t.TempDir(), "none"), t.TempDir()
	replace := strings.NewReplacer("NONE", none, "DIR", dir, "WASM", written(t, "m.wasm", "wasm"), "CRD", written(t, "crd.yaml", "crd"), "YAML", written(t, "a.yaml", "kind: A\n"))
	for _, line := range []string{
		"module bench NONE --crd CRD",
		"module bench WASM --crd NONE",
		"module bench WASM --crd CRD -f NONE",
		"module diff NONE WASM --crd CRD",
		"module diff WASM NONE --crd CRD",
		"module diff WASM WASM --crd NONE",
		"module fuzz NONE -f CRD",
		"module fuzz WASM -f NONE",
		"module run NONE -f YAML",
		"module run WASM -f NONE",
		"module run WASM -f YAML --objects NONE",
		"module run WASM -f YAML --config NONE",
		"module test NONE -f CRD --samples YAML",
		"module test WASM -f NONE --samples YAML",
		"module test WASM -f CRD --samples NONE",
		"module init DIR/new --from NONE",
		"module init DIR/new --from CRD --to NONE",
		"module init DIR/new --sdk NONE",
		"convert --to-version v1 --module WASM -f NONE",
		"convert --to-version v1 --module NONE -f YAML",
		"convert --to-version v1 --module WASM -f YAML --crd NONE",
		"module verify NONE --key WASM",
		"module verify WASM --key NONE",
	} {
		b := &bench{}
		if out, exit, err := b.run(t, strings.Fields(replace.Replace(line))...); exit != statusMistake || err == nil || !strings.Contains(err.Error(), none) || out != "" {
			t.Errorf("%s: %d, %v\n%s", line, exit, err, out)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// Of files that cannot be written the first is told.
func TestFilesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	below := written(t, "file", "text")
	b := &bench{samples: []workbench.Sample{{Version: "v1", Made: []workbench.Made{{To: "v2", Converted: workbench.Converted{Object: []byte(`{}`)}}}}}}
	inFile := filepath.Join(t.TempDir(), "in")
	if err := os.MkdirAll(inFile, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inFile, "a"), nil, 0o600); err != nil { // where a folder is wanted
		t.Fatal(err)
	}
	tried := []string{"module", "test", written(t, "m.wasm", "wasm"), "-f", written(t, "crd.yaml", "crd"), "--samples", written(t, "a.yaml", "kind: A\n"), "--golden", below}
	for _, line := range [][]string{{"module", "init", inFile}, {"module", "init", inFile, "--force"}, tried, append(slices.Clone(tried), "--update"), {"envtest", filepath.Join(below, "x")}} {
		if out, exit, err := b.run(t, line...); exit == 0 || err == nil || !strings.Contains(err.Error(), "not a directory") || out != "" {
			t.Errorf("%q: %d, %v\n%s", line, exit, err, out)
		}
	}
	if _, exit, err := (&bench{}).run(t, "module", "init", dir, "--force"); exit != statusMistake || err == nil || !strings.Contains(err.Error(), "b.yaml") {
		t.Errorf("%d, %v", exit, err)
	}
}

// full is where nothing can be written.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

// What cannot be printed is an error, also after what was found.
func TestWhatCannotBePrintedIsAnError(t *testing.T) {
	g := withModules(t, "m")
	g.later(modulesPath+"/m", func(obj map[string]any) {
		obj["status"] = map[string]any{"digest": digestOf([]byte("x")), "revisions": []any{map[string]any{"digest": digestOf([]byte("x"))}}}
	})
	waiting := withCandidate(t, reported("Completed", 3, 0))
	g.contents[modulesPath+"/m@"+digestOf([]byte("x"))] = []byte("x")
	objects, _ := recordable(t, 3)
	golden := t.TempDir()
	replace := strings.NewReplacer("WASM", written(t, "m.wasm", "wasm"), "CRD", written(t, "crd.yaml", "crd"), "YAML", written(t, "a.yaml", "kind: A\n"), "GOLDEN", golden,
		"DEFINED", written(t, "defined.yaml", lintedCRD), "RECORDED", "tabs.example.com -s "+objects, "WAITING", "--kubeconfig "+waiting.kubeconfig)
	b := &bench{Signing: offline.Tools{}, findings: lost, answer: workbench.Answer{Reply: "{}", Problem: "p"}, is: workbench.Inspection{Problem: "p"}, samples: []workbench.Sample{{Version: "v1", Problem: "p"}},
		compared: workbench.Compared{Places: []workbench.ComparedPath{{}}}, measured: workbench.Measured{Rows: []workbench.Row{{}}}, operations: []workbench.Operation{{}}}
	for _, line := range []string{
		"version", "version -o yaml", "version -o json",
		"module bench WASM --crd CRD", "module diff WASM WASM --crd CRD", "module fuzz WASM -f CRD", "module fuzz WASM -f CRD -o yaml",
		"module run WASM -f YAML", "module run WASM -f YAML -o json", "module inspect WASM", "module inspect WASM -o yaml",
		"module test WASM -f CRD --samples YAML", "module test WASM -f CRD --samples YAML -o junit", "module test WASM -f CRD --samples YAML -o sarif",
		"module init GOLDEN --force", "module keygen GOLDEN/key", "module record RECORDED --out GOLDEN --force", "convert --to-version v1 --module WASM -f YAML",
		"lint -f DEFINED --against DEFINED", "lint -f DEFINED --against DEFINED -o json", "module promote m --dry-run WAITING",
		"module list KUBECONFIG", "module list -o name KUBECONFIG", "module list -o json KUBECONFIG", "module history m KUBECONFIG", "module logs m KUBECONFIG",
		"module get m KUBECONFIG", "module delete m --dry-run KUBECONFIG", "module delete m -o name --dry-run KUBECONFIG",
	} {
		root := New(Parts{Tools: b})
		root.SetOut(full{})
		root.SetErr(io.Discard)
		root.SetArgs(strings.Fields(strings.ReplaceAll(replace.Replace(line), "KUBECONFIG", "--kubeconfig "+g.kubeconfig)))
		if err := root.ExecuteContext(t.Context()); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
