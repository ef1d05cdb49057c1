package cli

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
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

// What is no sample stands before one, and the sample is tried all the same.
func TestSamplesAmongOthers(t *testing.T) {
	wasm, crd := written(t, "m.wasm", "wasm"), written(t, "crd.yaml", "crd")
	dir := folder(t, map[string]string{"a.yaml": "# nothing\n---\nkind: Other\n---\na: 1\n", "b.yaml": "kind: Other\n", "c.yaml": "a: 2\n"})
	sample := workbench.Sample{Version: "v1", Made: []workbench.Made{{To: "v2", Converted: workbench.Converted{Object: []byte(`{}`)}}}}
	b := &bench{samples: []workbench.Sample{{}, sample, {}, sample}}
	out, exit, err := b.run(t, "module", "test", wasm, "-f", crd, "--samples", dir)
	var said []string
	for line := range strings.Lines(out) {
		said = append(said, strings.Join(strings.Fields(strings.ReplaceAll(line, dir, "DIR")), " "))
	}
	want := []string{"RESULT TEST PROBLEM", "ok DIR/a.yaml#3: v1 to v2 and back", "ok DIR/c.yaml: v1 to v2 and back"}
	if exit != 0 || !slices.Equal(said, want) {
		t.Errorf("status %d, %v\n%s", exit, err, out)
	}
}

// Golden files tell numbers apart by all of their digits, and not by how they are written.
func TestNumbersOfGoldenFilesAreExact(t *testing.T) {
	const made = `{"a":[9007199254740993],"b":1.0,"c":1e3,"d":18446744073709551615,"e":0.5,"f":-2.0,"g":-9007199254740993,"h":-0.0,"i":1e25,"j":-3e25,"k":-0.75}`
	c := &tryCommand{golden: t.TempDir(), update: true}
	if _, err := c.compare("a.yaml", "v2", [][]byte{[]byte(made)}); err != nil {
		t.Fatal(err)
	}
	c.update = false
	for got, want := range map[string]string{
		made:                                    "",
		strings.ReplaceAll(made, "1.0", "1"):    "",
		strings.ReplaceAll(made, "1e3", "1000"): "",
		strings.ReplaceAll(made, "-2.0", "-2"):  "",
		strings.ReplaceAll(made, "[9007199254740993", "[9007199254740992"): "a: want [9007199254740993], got [9007199254740992]",
		strings.ReplaceAll(made, "-9007199254740993", "-9007199254740992"): "g: want -9007199254740993, got -9007199254740992",
		strings.ReplaceAll(made, "551615", "551614"):                       "d: want 18446744073709551615, got 18446744073709551614",
		strings.ReplaceAll(made, "0.5", "0.25"):                            "e: want 0.5, got 0.25",
		strings.ReplaceAll(made, "1e25", "2e25"):                           "i: want 1e+25, got 2e+25",
		strings.ReplaceAll(made, "-3e25", "-4e25"):                         "j: want -3e+25, got -4e+25",
		strings.ReplaceAll(made, "-0.75", "-0.875"):                        "k: want -0.75, got -0.875",
		strings.ReplaceAll(made, "1.0", `"1"`):                             `b: want 1, got "1"`,
	} {
		if is, err := c.compare("a.yaml", "v2", [][]byte{[]byte(got)}); err != nil || is.Problem != want {
			t.Errorf("%s: %q, %v", got, is.Problem, err)
		}
	}
}

// A golden file that cannot be read is an error, and one of other objects fails its test.
func TestGoldenFilesThatAreOdd(t *testing.T) {
	c := &tryCommand{golden: t.TempDir()}
	file := filepath.Join(c.golden, "a.v2.yaml")
	for text, want := range map[string]struct{ fails, problem string }{
		"a: [":          {file + ": ", ""},
		"a: 1\na: 1\n":  {file + ": ", ""},
		"a: 1\n---\nb:": {"", "it has 2 objects, and 1 were made"},
		"a: 2":          {"", "a: want 2, got 1"},
		"a: 1":          {"", ""},
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		is, err := c.compare("x/a.json", "v2", [][]byte{[]byte(`{"a":1}`)})
		if (err == nil) != (want.fails == "") || err != nil && !strings.HasPrefix(err.Error(), want.fails) || is.Problem != want.problem {
			t.Errorf("%q: %q, %v", text, is.Problem, err)
		}
	}
	c.golden = file // a file, where a folder is meant
	if _, err := c.compare("a.json", "v2", nil); err == nil {
		t.Error("a file that cannot be read is like one that is not there")
	}
}

// A golden file is of one sample, and is none itself: else nothing is written or compared.
func TestGoldenFilesAreOfOneSample(t *testing.T) {
	wasm, crd := written(t, "m.wasm", "wasm"), written(t, "crd.yaml", "crd")
	sample := workbench.Sample{Version: "v1", Made: []workbench.Made{{To: "v2", Converted: workbench.Converted{Object: []byte(`{"a":1}`)}}}}
	twice := folder(t, map[string]string{"one/a.yaml": "a: 1\n", "other/a.yaml": "a: 2\n", "b.yaml": "a: 3\n"})
	among := folder(t, map[string]string{"a.v2.yaml": "a: 1\n", "a.yaml": "a: 2\n"})
	for _, c := range []struct{ samples, golden, want string }{
		{twice, filepath.Join(twice, "golden"), "have one golden file"},
		{among, among, "a.v2.yaml is a sample, and the golden file of"},
	} {
		b := &bench{samples: []workbench.Sample{sample, sample, sample}}
		for _, more := range [][]string{{"--update"}, nil} {
			_, exit, err := b.run(t, append([]string{"module", "test", wasm, "-f", crd, "--samples", c.samples, "--golden", c.golden}, more...)...)
			if exit != 2 || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: status %d, %v", more, exit, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(twice, "golden")); err == nil {
		t.Error("a golden file was written")
	}
	if text, err := os.ReadFile(filepath.Join(among, "a.v2.yaml")); err != nil || string(text) != "a: 1\n" {
		t.Errorf("the sample is %q, %v", text, err)
	}
}
