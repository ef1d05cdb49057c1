package cli

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// Samples are held against golden files, and what is wrong is told in each format.
func TestSamplesAndGoldenFiles(t *testing.T) {
	wasm, crd := written(t, "m.wasm", "wasm"), written(t, "crd.yaml", "crd")
	dir := folder(t, map[string]string{"a.yaml": "a: 1\n---\nkind: Other\n", "b.yaml": "a: 2\n"})
	golden := filepath.Join(t.TempDir(), "golden")
	sample := func(made string, losses ...workbench.Loss) workbench.Sample {
		return workbench.Sample{Version: "v1", Losses: losses, Made: []workbench.Made{{To: "v2", Converted: workbench.Converted{Object: []byte(made)}}}}
	}
	b := &bench{samples: []workbench.Sample{sample(`{"b":{"c":1,"d":2}}`), {}, sample(`{"b":2}`)}}
	test := func(more ...string) (string, int) {
		t.Helper()
		out, exit, _ := b.run(t, append([]string{"module", "test", wasm, "-f", crd, "--samples", dir, "--golden", golden}, more...)...)
		return out, exit
	}
	if out, exit := test(); exit != 1 || strings.Count(out, "there is no such file; write it with --update") != 2 {
		t.Errorf("without golden files: status %d\n%s", exit, out)
	}
	if out, exit := test("--update"); exit != 0 {
		t.Errorf("status %d\n%s", exit, out)
	}
	if text, err := os.ReadFile(filepath.Join(golden, "a.v2.yaml")); string(text) != "b:\n  c: 1\n  d: 2\n" {
		t.Errorf("%v\n%s", err, text)
	}
	out, exit := test()
	if want := "ok       " + filepath.Join(dir, "a.yaml") + "#1: v1 to v2 and back"; exit != 0 || strings.Contains(out, "FAIL") || !strings.Contains(out, want) {
		t.Errorf("status %d\n%s\nwant\n%s", exit, out, want)
	}

	b.samples[0] = sample(`{"b":{"c":"1","e":2}}`, workbench.Loss{From: "v1", To: "v2", Problem: "Lost", Field: "a", Place: "a", Had: "1"})
	b.samples[2] = workbench.Sample{Version: "v1", Problem: "a: too small"}
	out, exit = test()
	for _, want := range []string{"v1 to v2 and back", "Lost of a: 1 becomes (nothing)", `b.c: want 1, got "1"`, "b.d: want 2, got nothing", "b.e: want nothing, got 2", "it is no valid sample: a: too small"} {
		if exit != 1 || !strings.Contains(out, want) {
			t.Errorf("status %d\n%s\nwant\n%s", exit, out, want)
		}
	}
	var suite junitSuite
	if out, exit = test("-o", "junit"); exit != 1 || xml.Unmarshal([]byte(out), &suite) != nil || suite.Tests != 3 || suite.Failures != 3 || suite.Cases[0].Failure.Message != "Lost of a: 1 becomes (nothing)" {
		t.Errorf("status %d\n%s", exit, out)
	}
	var sarif struct {
		Version string
		Runs    []struct {
			Results []struct{ RuleID, Level string }
		}
	}
	if out, exit = test("-o", "sarif"); exit != 1 || json.Unmarshal([]byte(out), &sarif) != nil || sarif.Version != "2.1.0" || len(sarif.Runs[0].Results) != 3 || sarif.Runs[0].Results[0].Level != "error" {
		t.Errorf("status %d\n%s", exit, out)
	}
	if out, exit = test("-o", "json"); exit != 1 || !strings.Contains(out, `"problem": "Lost of a: 1 becomes (nothing)"`) {
		t.Errorf("status %d\n%s", exit, out)
	}
	for _, args := range [][]string{{wasm}, {wasm, "-f", crd}, {wasm, "-f", crd, "--samples", dir, "--update"}, {wasm, "-f", crd, "--samples", t.TempDir()}} {
		if _, exit, err := b.run(t, append([]string{"module", "test"}, args...)...); exit != 2 || err == nil {
			t.Errorf("%q: status %d, %v", args, exit, err)
		}
	}
}
