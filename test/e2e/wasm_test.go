package e2e

import (
	"net/http"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

const modulePath = "/apis/wasmgate.dev/v1/wasmmodules"

// crontabModule is where the source of the CronTab module is.
const crontabModule = "../../examples/crontab/module"

// newModule makes a WasmModule that takes uploads. limits are the module's, as
// name and value in turn.
func newModule(t testing.TB, api *harness.API, name string, limits ...string) {
	t.Helper()
	module := object{
		"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"source": map[string]any{"upload": map[string]any{}}},
	}
	for i := 0; i+1 < len(limits); i += 2 {
		module.Set("spec.limits."+limits[i], limits[i+1])
	}
	api.Post(modulePath, module).Want(201)
	t.Cleanup(func() { _, _ = api.Try("DELETE", modulePath+"/"+name, nil) })
}

// upload makes a WasmModule and uploads its bytes; it does not wait.
func upload(t testing.TB, api *harness.API, name string, wasm []byte, limits ...string) {
	t.Helper()
	newModule(t, api, name, limits...)
	content(api, name, wasm).Want(200, 201)
}

// content uploads the bytes of a module.
func content(api *harness.API, name string, wasm []byte) *harness.Reply {
	return api.Do(http.MethodPut, modulePath+"/"+name+"/content", wasm, "Content-Type", "application/wasm")
}

// condition returns a condition of an object, or an empty one.
func condition(o object, kind string) object {
	all, _ := o.At("status.conditions").([]any)
	for _, c := range all {
		if c := object(c.(map[string]any)); c["type"] == kind {
			return c
		}
	}
	return object{}
}

// awaitCondition waits for a condition to have a status and returns it.
func awaitCondition(api *harness.API, path, kind, status string) object {
	r := api.Eventually(path, func(r *harness.Reply) bool {
		return r.Code == 200 && condition(r.Object(), kind)["status"] == status
	})
	return condition(r.Object(), kind)
}

// pushModule uploads a module and waits until it is ready.
func pushModule(t testing.TB, api *harness.API, name string, wasm []byte, limits ...string) {
	t.Helper()
	upload(t, api, name, wasm, limits...)
	awaitCondition(api, modulePath+"/"+name, "Ready", "True")
}

// awaitRefused waits until the content of a module is refused, and returns the
// condition that says why. A compilation that goes on, on a busy machine, is awaited, too.
func awaitRefused(api *harness.API, name string) object {
	r := api.Eventually(modulePath+"/"+name, func(r *harness.Reply) bool {
		c := condition(r.Object(), "Compiled")
		return c["status"] == "False" && c["reason"] != "ContentMissing" && c["reason"] != "Slow"
	})
	return condition(r.Object(), "Compiled")
}

// newWasmCronTabs creates CronTabs that store v1beta1 and serve v1 by a module
// that is there already.
func newWasmCronTabs(t testing.TB, s *harness.Server, module string) *cronTabs {
	t.Helper()
	return newCronTabs(t, s, func(crd object) {
		crd.Set("spec.conversion", wasmConversion(module))
		storeAt(crd, "v1beta1")
	})
}

func wasmConversion(module string) map[string]any {
	return map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": "wasm://" + module},
	}}
}
