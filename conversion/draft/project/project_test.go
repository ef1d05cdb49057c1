package project

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

var write = flag.Bool("write", false, "write what projects are made of to testdata")

// everything is a rule of each form that has a step, and of some that have none.
var everything = []string{
	`{"rename":{"field":"spec.a","to":"b"}}`, `{"rename":{"field":"spec.list[*].a","to":"b c"}}`, `{"move":{"from":"spec.list[*].x[*].a","to":"spec.list[*].x[*].b.c"}}`,
	`{"remove":{"field":"spec.gone"}}`, `{"keep":{"field":"spec.kept"}}`, `{"restore":{"field":"spec.back","annotation":"example.com/back"}}`,
	`{"split":{"field":"spec.address","separator":":","into":["spec.host","spec.port"],"last":true}}`, `{"join":{"fields":["spec.host","spec.port"],"separator":"\"\\\u0000","into":"spec.address"}}`,
	`{"map":{"field":"spec.level","values":{"low":"1","high":"yes"}}}`, `{"map":{"field":"spec.none","values":{}}}`, `{"default":{"field":"spec.size","value":3}}`,
	`{"type":{"field":"spec.n","from":"integer","to":"string"}}`, `{"type":{"field":"spec.n","from":"string","to":"boolean"}}`, `{"type":{"field":"spec.n","from":"integer","to":"number"}}`,
	`{"unit":{"field":"spec.wait","kind":"Duration","unit":"s"}}`, `{"unit":{"field":"spec.size","kind":"Quantity","unit":"Mi"}}`,
	`{"toList":{"field":"spec.one"}}`, `{"fromList":{"field":"spec.many"}}`, `{"scale":{"field":"spec.n","by":"1/1000"}}`, `{"remove":{"field":"spec..a"}}`, `{}`, `{"rename":{"field":"list[*]","to":"b"}}`,
}

// full is a project of a draft with everything, every other of it a guess, and of one
// in which nothing has to change.
func full(t *testing.T, language string) Project {
	t.Helper()
	d := draft.Draft{From: "v1-a", To: "v2"}
	for i, text := range everything {
		op := draft.Op{At: fmt.Sprint("spec.at", i), Why: "one\nline", Certain: i%2 == 0}
		if err := json.Unmarshal([]byte(text), &op.Rule); err != nil {
			t.Fatal(err)
		}
		if i%4 == 1 {
			op.Alternatives = []string{"this", "that"}
		}
		d.Ops = append(d.Ops, op)
	}
	return Project{Name: "widgets.x", Language: language, Kind: `Wid"get`, Definition: "widgets.example.com", CRD: []byte("a: b\n"), Drafts: []draft.Draft{d, {From: "v2", To: "v3"}}}
}

// All files of projects, in all languages, are those that are kept in testdata.
func TestFilesOfProjects(t *testing.T) {
	for _, language := range Languages {
		files, err := full(t, language).Files()
		if err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		for _, f := range files {
			if f.Name == "steps.go" { // which is there as it is
				if !bytes.Equal(f.Content, steps) {
					t.Errorf("the steps are\n%s", f.Content)
				}
				continue
			}
			fmt.Fprintf(&all, "-- %s --\n%s", f.Name, f.Content)
		}
		name := filepath.Join("testdata", language+".txt")
		if *write {
			if err := os.WriteFile(name, all.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(all.Bytes(), want) {
			t.Errorf("%s:\n%s\nwant\n%s", language, all.Bytes(), want)
		}
	}
	if _, err := full(t, "c").Files(); err == nil || err.Error() != `"c" is no language of projects: want one of rules, go, rust, assemblyscript` {
		t.Errorf("another language: %v", err)
	}
}

// What files depend on besides the drafts.
func TestProjectsWithAnSDKAndSamples(t *testing.T) {
	content := func(p Project, name string) string {
		files, err := p.Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Name == name {
				return string(f.Content)
			}
		}
		return ""
	}
	p := Project{Name: "1st", Kind: "Widget", Definition: "widgets.example.com", SDK: "/a b", Samples: true, Drafts: []draft.Draft{{From: "v1", To: "v2", Ops: []draft.Op{{Certain: true}}}}}
	for _, c := range []struct {
		language, name, part string
		want                 bool
	}{
		{Go, "go.mod", `replace github.com/wasmgate/wasmgate => "/a b"`, true}, {Go, "README.md", "-replace", false},
		{Rust, "Cargo.toml", `wasmgate-sdk = { path = "/a b/sdk/rust" }`, true}, {Rust, "Cargo.toml", `name = "module-1st"`, true}, {Rust, "README.md", "cargo add", false},
		{Rust, "src/lib.rs", "use wasmgate_sdk::Module;", true},
		{Rules, "README.md", "--samples samples", true}, {Rules, "README.md", "have `module test` write", true}, {Rules, "README.md", "module build", false},
		{Rules, "README.md", "nothing of it is in doubt", true}, {Rules, "README.md", "marked with", false}, {Go, "README.md", "module build --out 1st.wasm", true},
		{Rules, "rules.yaml", "rules: [] # nothing has to change", true},
	} {
		p.Language = c.language
		if got := content(p, c.name); strings.Contains(got, c.part) != c.want {
			t.Errorf("%s of %s, %q: %s", c.name, c.language, c.part, got)
		}
	}
	p.SDK, p.Language = "/plain", Go
	if got := content(p, "go.mod"); !strings.Contains(got, "=> /plain\n") {
		t.Errorf("a plain path: %s", got)
	}
	for language, want := range map[string]string{Rules: "wasm://rules/1st", Go: "wasm://1st", Rust: "wasm://1st"} {
		if p.Language = language; p.URL() != want {
			t.Errorf("%s: %s", language, p.URL())
		}
	}
	p.Language, p.Drafts[0].Ops = Rules, []draft.Op{{Why: "all of it"}}
	if got := content(p, "rules.yaml"); !strings.Contains(got, "    # CHECK: all of it\n") {
		t.Errorf("a remark on all of an object: %s", got)
	}
	p.Definition = "widgets\nkind: Other"
	for _, p.Language = range Languages {
		files, err := p.Files()
		for _, f := range files {
			if strings.Contains(string(f.Content), "\nkind: Other") || err != nil {
				t.Errorf("%s in %s: %s, %v", f.Name, p.Language, f.Content, err)
			}
		}
	}
	p.Drafts[0].From = "v1 x"
	if p.Language = Go; wrong(p) == nil {
		t.Error("a version that is no word is written as Go")
	}
}

// wrong is what is wrong with the files of a project.
func wrong(p Project) error {
	_, err := p.Files()
	return err
}

// A rule has a step, or it has none.
func TestRulesThatHaveSteps(t *testing.T) {
	none := map[int]bool{13: true, 15: true, 18: true, 19: true, 20: true, 21: true}
	for i, text := range everything {
		var r rules.Rule
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if HasStep(r) == none[i] {
			t.Errorf("%s has a step: %t", text, HasStep(r))
		}
	}
}

// Texts are written with quotes where YAML, or Rust, would read something else.
func TestTextsAreQuotedWhereTheyHaveToBe(t *testing.T) {
	got, err := flow([]byte(`{"a":["yes","No","a b","a.b/c_D","1",2,1.50,true,null,"",{"y":{}}],"b-c":[]}`))
	if want := `{a: ["yes", "No", "a b", a.b/c_D, "1", 2, 1.50, true, null, "", {"y": {}}], "b-c": []}`; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	for _, text := range []string{"", "[", "{", `{"a":`, `["a"`, `{"a":[}`} {
		if got, err := flow([]byte(text)); err == nil {
			t.Errorf("%s is %s", text, got)
		}
	}
	if got := rustQuote("a\"\\é\n\x7f"); got != `"a\"\\é\u{a}\u{7f}"` {
		t.Error(got)
	}
	if got := scriptQuote("<a>&\"\n"); got != `"<a>&\"\n"` {
		t.Error(got)
	}
	if text, err := (Project{Name: "p", SDK: "/a&b"}).packageJSON(); err != nil || !strings.Contains(string(text), `"file:/a&b/sdk/assemblyscript"`) {
		t.Errorf("%s, %v", text, err)
	}
	if got := line("a\x1f \x7f\u0085\u2028\u2029\ufeffb"); got != "a       b" {
		t.Errorf("%q", got)
	}
}
