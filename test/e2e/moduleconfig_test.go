package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// limiter is a module that needs a configuration: it refuses ConfigMaps with more
// keys than that says, and signs what it says.
func limiter(t *testing.T, signs string) (file string) {
	t.Helper()
	return goModule(t, `package main

import (
	"encoding/json"
	"fmt"

	"github.com/wasmgate/wasmgate/sdk"
)

var config struct{ Max int }

func init() {
	sdk.Configure(`+"`"+`{"type":"object","required":["max"],"properties":{"max":{"type":"integer"},"note":{"type":"string"}}}`+"`"+`,
		func(text []byte) error { return json.Unmarshal(text, &config) })
	sdk.Admit(func(r *sdk.Review) error { return fmt.Errorf("`+signs+` allows %d keys", config.Max) })
}

func main() {}
`)
}

// A configuration that the schema requires has to be there before the module
// serves; with push --config content and configuration begin to serve together.
func TestARequiredConfigurationComesWithTheModule(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api, path := g.API(t), modulePath+"/limiter"
	first, second := limiter(t, "first"), limiter(t, "second")
	config := func(text string) string {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	fails := func(parts []string, args ...string) {
		t.Helper()
		out, err := g.TryCLI(t, append([]string{"module", "push", "limiter"}, args...)...)
		if err == nil {
			t.Errorf("push %q succeeded:\n%s", args, out)
		}
		mustContain(t, out, parts...)
	}
	fails([]string{"ConfigRefused: it has no configuration: config.max in body is required",
		"wasmgate module push limiter FILE.wasm --config CONFIG.yaml"}, first)
	if c := condition(api.Get(path).Object(), "Ready"); c["status"] != "False" || c["reason"] != "ConfigRefused" {
		t.Errorf("without its configuration: %v", c)
	}

	mustContain(t, g.CLI(t, "module", "push", "limiter", first, "--config", config("max: 3\nnote: old")), "wasmmodule/limiter ready: sha256:")
	api.Post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", parse(t, `{"apiVersion":"admissionregistration.k8s.io/v1",
		"kind":"ValidatingWebhookConfiguration","metadata":{"name":"limiter"},"webhooks":[{"name":"limiter.example.com","clientConfig":{"url":"wasm://limiter"},
		"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}]}`)).Want(201)
	says := func(want string) {
		t.Helper()
		harness.Eventually(t, want, func() bool {
			r, err := api.Try("POST", configMaps("default")+"?dryRun=All", configMap(t, "default", "c", `{}`))
			return err == nil && r.Contains(want)
		})
	}
	says("first allows 3 keys")
	mustContain(t, g.CLI(t, "module", "push", "limiter", second, "--config", config("max: 4")), "ready")
	says("second allows 4 keys")
	if r := api.Get(path); r.Contains("note") || r.Str("spec.config.max") != "4" {
		t.Errorf("the configuration is not replaced: %s", r.Body)
	}
	mustContain(t, g.CLI(t, "module", "push", "limiter", first), "ready")
	says("first allows 4 keys")

	fails([]string{"ConfigRefused: its configuration: config.max in body must be of type integer", "The previous content stays in use"}, second, "--config", config("max: many"))
	says("first allows 4 keys")
	fails([]string{"upload refused", "NotWasm"}, config("no module at all"), "--config", config("max: 5"))
	api.Get(path).Equal("spec.config.max", "many")
	if out, err := g.TryCLI(t, "module", "push", "other", config("no module at all")); err == nil || !strings.Contains(out, "upload refused") {
		t.Errorf("%v %s", err, out)
	}
	api.Get(modulePath+"/other").WantStatus(404, "NotFound")
}
