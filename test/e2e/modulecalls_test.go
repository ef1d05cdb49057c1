package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// A module that is ready and fails is told apart from one that works: in its
// conditions, by an event, in tables; and by each of two gateways.
func TestCallsThatFailAreSaidOfTheModule(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	other := harness.Start(t, harness.Options{EtcdServers: g.EtcdURL})
	api, path, k := g.API(t), modulePath+"/tabs", g.Kubectl(t)
	bad, good := converter(t, `if host == "one" { panic("it is one") }; return nil`), converter(t, `return nil`)
	health := func(status, reason string) object {
		t.Helper()
		r := api.Eventually(path, func(r *harness.Reply) bool {
			c := condition(r.Object(), "Healthy")
			return c["status"] == status && c["reason"] == reason
		})
		return condition(r.Object(), "Healthy")
	}
	mustContain(t, g.CLI(t, "module", "push", "tabs", good), "ready")
	health("Unknown", "NoCalls")
	c := newWasmCronTabs(t, &g.Server, "tabs")
	// Either gateway may load a revision last.
	harness.Eventually(t, "this gateway converts", func() bool {
		r := api.Post(c.list("v1"), c.object("v1", "one", `{"host":"one","port":"80"}`))
		return r.Code == 201 || r.Code == 409
	})
	api.Eventually(c.path("v1", "one"), func(r *harness.Reply) bool { return r.Code == 200 })
	health("True", "CallsSucceed")

	mustContain(t, g.CLI(t, "module", "push", "tabs", bad), "ready")
	api.Eventually(c.path("v1", "one"), func(r *harness.Reply) bool { return r.Code == 500 })
	message := health("False", "CallsFail").Str("message")
	mustContain(t, message, " calls failed since ", "the last one, of wasmgate_convert: Trap: ", "it is one", "see: wasmgate module logs tabs")
	if ready := condition(api.Get(path).Object(), "Ready"); ready["status"] != "True" {
		t.Errorf("it is not ready: %v", ready)
	}
	api.Eventually(namespacePath+"/default/events?fieldSelector=involvedObject.name=tabs", func(r *harness.Reply) bool { return r.Contains(`"reason":"CallsFail"`) })
	mustContain(t, k.Must("describe", "wasmmodule", "tabs"), "Warning  CallsFail")
	for _, table := range []string{k.Must("get", "wasmmodules"), g.CLI(t, "module", "list")} {
		row := ""
		for line := range strings.Lines(table) {
			if strings.HasPrefix(line, "tabs ") {
				row = line
			}
		}
		if !strings.Contains(row, "True") || !strings.Contains(row, "False") && !strings.Contains(row, "CallsFail") {
			t.Errorf("nothing tells that calls fail:\n%s", table)
		}
	}

	api.Eventually(path, func(r *harness.Reply) bool {
		_, _ = other.API(t).Try("GET", c.path("v1", "one"), nil) // which fails there, too
		failing, _ := r.Object().At("status.calls.failing").([]any)
		return len(failing) == 2
	})
	mustContain(t, g.CLI(t, "module", "push", "tabs", good), "ready")
	api.Eventually(c.path("v1", "one"), func(r *harness.Reply) bool { return r.Code == 200 })
	health("True", "CallsSucceed")
}
