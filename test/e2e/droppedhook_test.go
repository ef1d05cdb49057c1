package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/storage/blob"
	"github.com/wasmgate/wasmgate/test/harness"
)

// A module that judges writes cannot be replaced by one that does not while a
// webhook relies on it: not by an upload, and not by a restart.
func TestAContentThatDropsABoundHookDoesNotServe(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	judges, orders := plugintest.Build(t, plugintest.Policy), plugintest.Build(t, plugintest.Releases)
	pushModule(t, api, "life", judges)
	ns := namespace(t, api)
	hook := parse(t, `{"name":"life.example.com","clientConfig":{"url":"wasm://life"},"sideEffects":"None","admissionReviewVersions":["v1"],
		"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}],
		"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"`+ns+`"}}}`)
	const configurations = hooksPath + "mutatingwebhookconfigurations"
	api.Post(configurations, object{"metadata": object{"name": "life"}, "webhooks": []any{hook}}).Want(201)
	judged := func() {
		t.Helper()
		harness.Eventually(t, "writes are judged", func() bool {
			r, err := api.Try("POST", configMaps(ns)+"?dryRun=All", configMap(t, ns, "bare", `{}`))
			return err == nil && r.Code == 403 && r.Contains("needs a label")
		})
	}
	judged()

	file := filepath.Join(t.TempDir(), "orders.wasm")
	if err := os.WriteFile(file, orders, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := g.TryCLI(t, "module", "push", "life", file)
	var ended *exec.ExitError
	const why = "it lacks wasmgate_admit, which the previous content has, and which is used by mutatingwebhookconfigurations/life"
	if !errors.As(err, &ended) || ended.ExitCode() != 1 || !strings.Contains(out, why) {
		t.Errorf("push: %v\n%s", err, out)
	}
	path := modulePath + "/life"
	kept := func() {
		t.Helper()
		r := api.Eventually(path, func(r *harness.Reply) bool {
			return condition(r.Object(), "Compiled")["reason"] == "HookInUse" && condition(r.Object(), "Ready")["reason"] == "PreviousRevision"
		})
		r.Equal("status.digest", blob.Digest(judges)).Equal("status.hooks.0", "wasmgate_admit")
		judged()
	}
	kept()
	g.Terminate(t)
	g.Restart(t)
	api = g.API(t)
	// Ready means that what served before does so again.
	api.Post(configMaps(ns)+"?dryRun=All", configMap(t, ns, "bare", `{}`)).WantStatus(403, "Forbidden", "needs a label")
	kept()

	api.Delete(configurations + "/life").Want(200)
	api.Eventually(path, func(r *harness.Reply) bool {
		return r.Str("status.digest") == blob.Digest(orders) && condition(r.Object(), "Compiled")["status"] == "True"
	}).Equal("status.hooks.0", "wasmgate_prioritize")
}
