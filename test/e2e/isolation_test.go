package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// A module that converts for two definitions, and judges writes, shows nobody what
// it saw of others.
func TestModulesShowNobodyWhatTheySaw_WP01_WP02(t *testing.T) {
	harness.SkipExternal(t)
	const secret = "hunter2"
	a := newAdmitted(t)
	name := "keeper-" + unique()
	pushModule(t, a.api, name, plugintest.Build(t, plugintest.Keeper))
	a.mutating(a.hook("keeps", `{"clientConfig":{"url":"wasm://`+name+`"},
		"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps","secrets"]}]}`))
	victim, evil := newWasmCronTabs(t, harness.Shared(t), name), newWasmCronTabs(t, harness.Shared(t), name)

	attack := func(mode string) object { return object{"attack": mode} }
	look := func(what string, r *harness.Reply) {
		t.Helper()
		stolen, found := r.Object().At("metadata.annotations.stolen").(string)
		if !found || strings.Contains(stolen, secret) || strings.Contains(stolen, "aHVudGVyMg") || !strings.Contains(stolen, "call 1 ") {
			t.Errorf("%s shows %.200q: %s", what, stolen, r.Body)
		}
	}
	for n := range 6 { // more than there are instances
		a.api.Post("/api/v1/namespaces/"+a.ns+"/secrets", object{"metadata": object{"name": fmt.Sprint("s", n), "annotations": attack("remember")},
			"stringData": object{"password": secret}}).Want(201)
		look("a hook", a.api.Post(configMaps(a.ns), object{"metadata": object{"name": fmt.Sprint("c", n), "annotations": attack("recall")}}).Want(201))

		id := fmt.Sprint("n", n)
		victim.api.Post(victim.list("v1beta1"), victim.object("v1beta1", id, `{"hostPort":"`+secret+`:1"}`).Set("metadata.annotations.attack", "remember")).Want(201)
		victim.api.Get(victim.path("v1", id)).Want(200)
		evil.api.Post(evil.list("v1beta1"), evil.object("v1beta1", id, `{}`).Set("metadata.annotations.attack", "recall")).Want(201)
		look("a conversion", evil.api.Get(evil.path("v1", id)).Want(200))
	}
}
