package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestTrustWhereModulesAreBound has a definition refused whose module is to be signed for it,
// while that serves on, and takes it when it is signed.
func TestTrustWhereModulesAreBound(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	api := harness.Start(t, harness.Options{}).API(t)
	by, module := newSigner(t), plugintest.Build(t, plugintest.CronTab)
	signed := by.sign(module)
	api.Post(trusts, strings.Replace(by.policy("bound", "*"), `"names":["*"]`, `"definitions":["tabs.bound.example.com"]`, 1)).Want(201)
	pushModule(t, api, "crontab", module)
	awaitTrusted(api, "crontab", "Unknown", "NotDemanded", "True")
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	definition := func(plural string) map[string]any {
		version := func(name string, stored bool) map[string]any {
			return map[string]any{"name": name, "served": true, "storage": stored, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
		}
		return map[string]any{"metadata": map[string]any{"name": plural + ".bound.example.com"}, "spec": map[string]any{
			"group": "bound.example.com", "scope": "Namespaced", "names": map[string]any{"plural": plural, "kind": strings.ToUpper(plural)},
			"conversion": wasmConversion("crontab"), "versions": []any{version("v1", true), version("v1beta1", false)},
		}}
	}
	const at, why = "spec.conversion.webhook.clientConfig.url: Invalid value: \"crontab\"", `Unsigned: ModuleTrust "bound" does not let it serve`
	api.Post(definitions, definition("tabs")).WantStatus(422, "Invalid", at, why)
	api.Get(definitions + "/tabs.bound.example.com").Want(404)
	api.Post(definitions, definition("others")).Want(201)
	unbound := definition("tabs")
	delete(unbound["spec"].(map[string]any), "conversion")
	api.Post(definitions, unbound).Want(201)
	conversion := map[string]any{"spec": map[string]any{"conversion": wasmConversion("crontab")}}
	api.Merge(definitions+"/tabs.bound.example.com", conversion).WantStatus(422, "Invalid", at, why)
	awaitTrusted(api, "crontab", "Unknown", "NotDemanded", "True")
	content(api, "crontab", signed).Want(200)
	api.Eventually(modulePath+"/crontab", func(r *harness.Reply) bool { return r.Str("status.digest") == signature.Digest(signed) })
	api.Merge(definitions+"/tabs.bound.example.com", conversion).Want(200)
	awaitTrusted(api, "crontab", "True", "Signed", "True")
	content(api, "crontab", module).WantStatus(422, "Invalid", "content: ", `Unsigned: ModuleTrust "bound"`)
}
