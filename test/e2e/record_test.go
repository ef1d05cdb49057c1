package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestObjectsAreRecorded: samples of what a gateway has are few, have no value of it, and
// are what `module test` reads.
func TestObjectsAreRecorded(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	module := converter(t, `return nil`)
	g.CLI(t, "module", "push", "tabs", module)
	c := newCronTabs(t, &g.Server, func(crd object) { crd.Set("spec.conversion", wasmConversion("tabs")) })
	for name, spec := range map[string]string{
		"acme-one": `{"host":"db.acme.internal","port":"5432","env":{"ACME_TOKEN":"hunter2"}}`,
		"acme-two": `{"host":"db.acme.internal"}`,
		"acme-six": `{"replicas":48123,"tags":["acme","other"],"suspend":true}`,
	} {
		o := c.object("v1", name, spec)
		o.Set("metadata.labels", map[string]any{"team": "acme"})
		c.api.Post(c.list("v1"), o).Want(201)
	}
	crd, samples := filepath.Join(t.TempDir(), "crd.json"), filepath.Join(t.TempDir(), "samples")
	if err := os.WriteFile(crd, c.api.Get(c.crdPath()).Want(200).Body, 0o600); err != nil {
		t.Fatal(err)
	}
	name := "crontabs." + c.group
	mustContain(t, g.CLI(t, "module", "record", name, "--out", samples, "-n", c.ns), name+": 2 samples in ", "of 3 objects at v1; they have ")
	files, err := filepath.Glob(filepath.Join(samples, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{"acme", "ACME", "hunter2", "5432", "48123", c.ns} {
			if strings.Contains(string(text), gone) {
				t.Errorf("%s is left in\n%s", gone, text)
			}
		}
	}
	if out, err := run(t, g, "module", "test", module, "-f", crd, "--samples", samples); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := g.TryCLI(t, "module", "record", name, "--out", samples); err == nil || !strings.Contains(out, "is there already") {
		t.Errorf("again: %v\n%s", err, out)
	}
	if out, err := g.TryCLI(t, "module", "record", name, "--out", samples, "-l", "team=none"); err == nil || !strings.Contains(out, "there are no objects of "+name) {
		t.Errorf("of nothing: %v\n%s", err, out)
	}
	mustContain(t, g.CLI(t, "module", "record", name, "--out", samples, "--at", "v1beta1", "--samples", "1", "-o", "json"), `"version": "v1beta1"`, `"crontab-v1beta1-1.yaml"`)
}
