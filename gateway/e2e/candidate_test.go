package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
)

// converter is a module that converts CronTabs; to v1 it does what body says.
func converter(t *testing.T, body string) (file string) {
	t.Helper()
	dir := t.TempDir()
	source := `package main

import (
	"errors"

	"github.com/wasmgate/wasmgate/sdk"
)

var errBroken = errors.New("it cannot be done")

func init() {
	sdk.Convert("v1beta1", "v1", func(o *sdk.Object) error {
		host, _ := o.At("spec", "host").String()
		_ = host
		` + body + `
	})
	sdk.Convert("v1", "v1beta1", func(*sdk.Object) error { return nil })
}

func main() {}
`
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "module.wasm")
	env := append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	shell(t, root, env, "go build -buildmode=c-shared -o "+file+" "+filepath.Join(dir, "main.go"))
	return file
}

// With spec.rollout: Shadow a new revision waits, is tried over live objects, and
// serves when it is promoted.
func TestACandidateIsTriedBeforeItServes(t *testing.T) {
	gatewaytest.SkipExternal(t)
	g := gatewaytest.Start(t, gatewaytest.Options{})
	api, path := g.API(t), modulePath+"/tabs"
	first := converter(t, `return nil`)
	second := converter(t, `return o.At("spec", "host").SetString("new-" + host)`)
	third := converter(t, `if host == "two" { return errBroken }; return nil`)
	fail := func(args ...string) string {
		t.Helper()
		out, err := g.TryCLI(t, args...)
		if err == nil {
			t.Fatalf("wasmgate %s succeeded:\n%s", strings.Join(args, " "), out)
		}
		return out
	}
	contains := func(out string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(out, part) {
				t.Errorf("this lacks %q:\n%s", part, out)
			}
		}
	}

	newModule(t, api, "tabs")
	api.Merge(path, object{"spec": object{"rollout": "Shadow"}}).Want(200)
	contains(g.CLI(t, "module", "push", "tabs", first), "wasmmodule/tabs ready") // nothing to compare with
	contains(fail("module", "promote", "tabs"), "no revision of wasmmodule/tabs waits")
	c := newWasmCronTabs(t, &g.Server, "tabs")
	for _, name := range []string{"one", "two", "three"} {
		c.create(name)
	}
	host := func(want string) {
		t.Helper()
		c.api.Get(c.path("v1", "one")).Equal("spec.host", want)
	}

	contains(g.CLI(t, "module", "push", "tabs", second), "it waits to be promoted, with: wasmgate module promote tabs")
	host("one")
	out := g.CLI(t, "module", "promote", "tabs", "--dry-run")
	contains(out, "conversions: 6, different: 3, failed: 0", "crontabs."+c.group+" "+c.ns+"/one", "spec.host is another value")
	if strings.Contains(out, "new-") {
		t.Errorf("the report quotes a value:\n%s", out)
	}
	host("one")

	contains(g.CLI(t, "module", "push", "tabs", third), "it waits")
	contains(fail("module", "promote", "tabs"), "conversions: 6, different: 0, failed: 1", c.ns+"/two", "it cannot be done", "is not promoted")
	g.Terminate(t)
	g.Restart(t) // which keeps what served, not what waits
	host("one")
	c.api.Get(c.path("v1", "two")).Want(200)

	contains(g.CLI(t, "module", "push", "tabs", second), "it waits")
	contains(g.CLI(t, "module", "promote", "tabs"), "different: 3", "wasmmodule/tabs promoted: sha256:")
	host("new-one")
	if text := string(api.Get(path).Want(200).Body); strings.Contains(text, `"candidate"`) {
		t.Errorf("something waits still: %s", text)
	}
	contains(g.CLI(t, "module", "rollback", "tabs"), "wasmmodule/tabs rolled back: sha256:")
	host("one")
}
