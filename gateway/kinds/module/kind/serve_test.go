package kind

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/host"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/gateway/options"
)

const oneRegistry = "apiVersion: wasmgate.dev/v1\nkind: ModuleRegistries\nregistries:\n- prefix: example.com\n"

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Files that cannot be used keep the gateway from serving, each told by its flag.
func TestFilesOfModulesAreReadBeforeTheyServe(t *testing.T) {
	e := realengine.Start(t)
	good, registries, bad := policies(t, revoked(nil)), filepath.Join(t.TempDir(), "registries.yaml"), filepath.Join(t.TempDir(), "bad")
	write(t, registries, oneRegistry)
	write(t, bad, "kind: Other\n")
	for name, c := range map[string]struct{ trust, registries, fails string }{
		"no files":                    {"", "", ""},
		"good files":                  {good, registries, ""},
		"bad policies":                {bad, registries, "--module-trust-file: " + bad + ": "},
		"no file of policies":         {bad + "x", registries, "--module-trust-file: " + bad + "x: "},
		"bad registries":              {good, bad, "--module-registries-file: " + bad + ": "},
		"no file of registries":       {"", bad + "x", "--module-registries-file: " + bad + "x: "},
		"both, of which one is first": {bad, bad, "--module-trust-file: "},
	} {
		m := newModules(t)
		m.config.Options = options.Serve{ModuleTrustFile: c.trust, ModuleRegistriesFile: c.registries}
		served, err := m.Kind().Serve(e.Verbs)
		if (err == nil) != (c.fails == "") || err != nil && !strings.HasPrefix(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			parts(t, served)
			if got := m.trust.Count(t.Context()) > 0; got != (c.trust != "") {
				t.Errorf("%s: there are policies: %v", name, got)
			}
		}
		for look, file := range map[string]string{c.trust: "trust", c.registries: "registries"} {
			var err error
			if file == "trust" {
				err = LookAtTrust(look)
			} else {
				err = LookAtRegistries(look)
			}
			if (err == nil) != (look == "" || look == good || look == registries) {
				t.Errorf("%s: looking at the %s: %v", name, file, err)
			}
		}
	}
}

// parts looks whether what modules are to the gateway is all there.
func parts(t *testing.T, served kinds.Served) {
	t.Helper()
	var names []string
	for path := range served.Contents {
		names = append(names, path.Resource+"/"+path.Subresource)
	}
	for path, question := range served.Questions {
		names = append(names, path.Resource+"/"+path.Subresource+" "+question.Verb)
	}
	for _, s := range served.Starts {
		names = append(names, s.Name)
	}
	all := map[string]bool{}
	for _, c := range served.Controllers() {
		all[c.Controller.Name()] = true
	}
	names = append(slices.Sorted(slices.Values(names)), slices.Sorted(maps.Keys(all))...)
	if want := "load-modules wasmmodules/content wasmmodules/failures get wasmmodules/log get "; !strings.HasPrefix(strings.Join(names, " ")+" ", want) || len(all) != 5 {
		t.Errorf("%q", names)
	}
}

// What becomes of the files is told in the log, and of none nothing is.
func TestFilesOfModulesAreFollowed(t *testing.T) {
	file, registries := filepath.Join(t.TempDir(), "trust.yaml"), filepath.Join(t.TempDir(), "registries.yaml")
	for name, c := range map[string]struct {
		o      options.Serve
		follow func(*Modules, context.Context)
		file   string
		then   string
		want   []string
	}{
		"no policies":    {options.Serve{}, (*Modules).followTrust, file, "", nil},
		"no registries":  {options.Serve{}, (*Modules).followRegistries, registries, "", nil},
		"the policies":   {options.Serve{ModuleTrustFile: file}, (*Modules).followTrust, file, policiesText(revoked([]byte("u"))), []string{"--module-trust-file cannot be read again", "the file of --module-trust-file has changed"}},
		"the registries": {options.Serve{ModuleRegistriesFile: registries}, (*Modules).followRegistries, registries, strings.Replace(oneRegistry, "example.com", "example.org", 1), []string{"--module-registries-file, or one that it names, cannot be read again", "the file of --module-registries-file has changed"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			write(t, file, policiesText(revoked(nil)))
			write(t, registries, oneRegistry)
			var out bytes.Buffer
			m := &Modules{Host: new(host.Host), trust: trust.New(nil), config: kinds.Config{Options: c.o, Log: zerolog.New(&out)}}
			if err := readTrust(m.trust, c.o.ModuleTrustFile); err != nil {
				t.Fatal(err)
			}
			if err := readRegistries(m.Host, c.o.ModuleRegistriesFile); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); c.follow(m, ctx) }()
			for _, text := range []string{"kind: Other\n", c.then} {
				write(t, c.file, text)
				<-time.After(time.Minute) // by the bubble's clock
				synctest.Wait()
			}
			cancel()
			<-done
			lines := slices.Collect(strings.Lines(out.String()))
			if len(lines) != len(c.want) {
				t.Fatalf("%s: %d lines\n%s", name, len(lines), &out)
			}
			for i, want := range c.want { // first the trouble, with its cause
				if !strings.Contains(lines[i], want) || strings.Contains(lines[i], `"error":"`) != (i == 0) {
					t.Errorf("%s: missing %s in\n%s", name, want, lines[i])
				}
			}
		})
	}
}
