package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// bench are tools that only say what the test wants.
type bench struct {
	workbench.Signing
	// measured, compared and answer are what the tools find out about corpus and request.
	measured workbench.Measured
	compared workbench.Compared
	answer   workbench.Answer
	corpus   workbench.Corpus
	request  workbench.Request
	findings workbench.Findings
	is       workbench.Inspection
	// pulled and trust are what the tools say of image and judged.
	pulled  workbench.Pulled
	pullErr error
	trust   workbench.Trust
	// trustErr is why the tools do not judge.
	trustErr error
	image    workbench.Image
	judged   workbench.Judged
	err      error
	samples  []workbench.Sample
	asked    workbench.Proof
	// drafted is what a project was asked about.
	drafted workbench.Draft
	// recording is what samples were made of, and recorded what these are.
	recording  workbench.Recording
	recorded   workbench.Recorded
	operations []workbench.Operation
}

func (b *bench) Prove(_ context.Context, what workbench.Proof) (workbench.Findings, error) {
	b.asked = what
	return b.findings, b.err
}

func (b *bench) Inspect(context.Context, workbench.Module) (workbench.Inspection, error) {
	return b.is, b.err
}

func (b *bench) Try(context.Context, workbench.Samples) ([]workbench.Sample, error) {
	return b.samples, b.err
}

func (b *bench) Record(_ context.Context, what workbench.Recording) (workbench.Recorded, error) {
	b.recording = what
	return b.recorded, b.err
}

func (b *bench) Languages() []string { return []string{"rules", "go"} }

// Draft makes a project of one file, and of the operations that the test wants.
func (b *bench) Draft(_ context.Context, what workbench.Draft) (workbench.Drafted, error) {
	b.drafted = what
	return workbench.Drafted{Definition: "w", Operations: b.operations, Files: []workbench.File{{Name: "a/b.yaml", Content: what.From}}}, b.err
}

// Convert brings objects of a kind Tab to the version, and leaves others, unless
// somebody else converts.
func (b *bench) Convert(ctx context.Context, what workbench.Conversion) (all []workbench.Converted, err error) {
	if what.By != nil {
		return what.By(ctx, what.Objects)
	}
	for _, o := range what.Objects {
		switch text := string(o); {
		case strings.Contains(text, `"bad"`):
			all = append(all, workbench.Converted{Problem: "it cannot"})
		case strings.Contains(text, `"Other"`):
			all = append(all, workbench.Converted{})
		default:
			all = append(all, workbench.Converted{Object: []byte(strings.Replace(text, `"v0"`, `"`+what.To+`"`, 1))})
		}
	}
	return all, b.err
}

// run runs wasmgate with the tools, and returns what it printed and its status.
func (b *bench) run(t *testing.T, args ...string) (out string, exit int, err error) {
	t.Helper()
	root := New(Parts{Tools: b})
	var printed bytes.Buffer
	root.SetOut(&printed)
	root.SetErr(&printed)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(t.Context())
	return printed.String(), exitStatus(cmd, err), err
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

var lost = workbench.Findings{
	Definition: "widgets.example.com", Lossless: "False", Tried: 7, Reached: 2, Fields: 2, Seed: 3,
	Losses: []workbench.Loss{{From: "v1", To: "v2", Problem: "Lost", Field: "spec.ports[*].name", Place: "spec.ports[0].name", Had: `"a"`,
		Example: "apiVersion: example.com/v1\nspec:\n  ports:\n  - name: a\n"}},
}

func TestFuzzExitsWithWhatItFound(t *testing.T) {
	wasm, crd := written(t, "m.wasm", "wasm"), written(t, "crd.yaml", "crd")
	for _, c := range []struct {
		name string
		b    *bench
		args []string
		exit int
		want string
	}{
		{"nothing is lost", &bench{findings: workbench.Findings{Definition: "w", Lossless: "True"}}, []string{wasm, "-f", crd}, 0, "w: lossless: True; 0 objects"},
		{"branches are told", &bench{findings: workbench.Findings{Definition: "w", Lossless: "True", Branches: &workbench.Coverage{Taken: 3, All: 9}}}, []string{wasm, "-f", crd}, 0,
			"w: lossless: True; 0 objects tried, with 0 of 0 fields, which took 3 of 9 branches of the functions that they ran (seed 0)\n"},
		{"a field is lost", &bench{findings: lost}, []string{wasm, "-f", crd}, 1,
			"PAIR    PROBLEM   FIELD                HAD   GOT\nv1:v2   Lost      spec.ports[*].name   \"a\"   (nothing)\n\nv1:v2 spec.ports[*].name: Lost\n    apiVersion: example.com/v1\n    spec:\n      ports:\n      - name: a\n  - spec.ports[0].name: \"a\"\n  + spec.ports[0].name: (nothing)\n"},
		{"a field is lost, as a table", &bench{findings: lost}, []string{wasm, "-f", crd, "-o", "table"}, 1, "PAIR"},
		{"a field is lost, for programs", &bench{findings: lost}, []string{wasm, "-f", crd, "-o", "json"}, 1, `"field": "spec.ports[*].name"`},
		{"it is not known", &bench{findings: workbench.Findings{Lossless: "Unknown", Why: "the time is up"}}, []string{wasm, "-f", crd}, 3, "lossless: Unknown"},
		{"no definition", &bench{}, []string{wasm}, 2, ""},
		{"no module", &bench{}, nil, 2, ""},
		{"no such file", &bench{}, []string{"none.wasm", "-f", crd}, 2, ""},
		{"no such flag", &bench{}, []string{wasm, "-f", crd, "--budgets", "1s"}, 2, ""},
		{"no time", &bench{}, []string{wasm, "-f", crd, "--budget", "0s"}, 2, ""},
		{"no calls", &bench{}, []string{"https://hooks.example.com", "-f", crd, "--calls-per-second", "0"}, 2, ""},
		{"the certificates of a file", &bench{}, []string{wasm, "-f", crd, "--ca", crd}, 2, ""},
		{"the configuration of a webhook", &bench{}, []string{"https://hooks.example.com", "-f", crd, "--config", crd}, 2, ""},
		{"no certificates", &bench{}, []string{"https://hooks.example.com", "-f", crd, "--ca", crd}, 2, ""},
		{"no such certificates", &bench{}, []string{"https://hooks.example.com", "-f", crd, "--ca", "none.crt"}, 2, ""},
		{"a mistake that the tools find", &bench{err: errors.New("no")}, []string{wasm, "-f", crd}, 2, ""},
	} {
		out, exit, err := c.b.run(t, append([]string{"module", "fuzz"}, c.args...)...)
		if exit != c.exit || (err == nil) != (c.exit == 0) || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, %v\n%s", c.name, exit, err, out)
		}
	}
	b := &bench{err: workbench.DefinitionError{Err: errors.New("no")}}
	for _, line := range []string{"fuzz " + wasm + " -f " + crd, "test " + wasm + " -f " + crd + " --samples " + written(t, "a.yaml", "a: b"), "bench " + wasm + " --crd " + crd, "diff " + wasm + " " + wasm + " --crd " + crd} {
		if _, exit, err := b.run(t, append([]string{"module"}, strings.Fields(line)...)...); exit != 2 || err == nil || err.Error() != crd+": no" {
			t.Errorf("%s: %d, %v", line, exit, err)
		}
	}
	b = &bench{findings: workbench.Findings{Lossless: "True"}}
	config := written(t, "config.yaml", "keep: true")
	if _, _, err := b.run(t, "module", "fuzz", wasm, "-f", crd, "--pairs", "v1:v2,v2:v1", "--acknowledge", "a.b", "--seed", "9", "--config", config); err != nil {
		t.Fatal(err)
	}
	if a := b.asked; string(a.Content) != "wasm" || string(a.Definitions) != "crd" || string(a.Config) != `{"keep":true}` || len(a.Pairs) != 2 || a.Seed != 9 || a.Acknowledged[0] != "a.b" {
		t.Errorf("asked for %+v", a)
	}
}

// A webhook is proved by its URL.
func TestFuzzOfAWebhook(t *testing.T) {
	own, err := pki.SelfSigned(filepath.Join(t.TempDir(), "pki"), []string{"127.0.0.1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{findings: workbench.Findings{Lossless: "True"}}
	out, _, err := b.run(t, "module", "fuzz", "https://hooks.example.com/convert", "-f", written(t, "crd.yaml", "crd"), "--ca", written(t, "ca.crt", string(own.Trust())), "--calls-per-second", "7")
	if err != nil {
		t.Fatal(err, out)
	}
	if w := b.asked.Webhook; w == nil || w.URL != "https://hooks.example.com/convert" || string(w.CA) != string(own.Trust()) || w.PerSecond != 7 || b.asked.Content != nil {
		t.Errorf("asked for %+v", b.asked)
	}
}
