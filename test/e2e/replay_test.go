package e2e

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/test/harness"
)

// keeping are the arguments of a gateway that keeps calls that failed.
var keeping = []string{"--module-failed-calls=1048576"}

// failures are the calls that the gateway kept.
type failures struct {
	Items []struct {
		ID, Hook, Error string
		Request         []byte
		Times           int
	}
}

// TestAFailedCallIsMadeAgain: a call that failed is kept where that is asked for, read
// by who may, and made again with what was sent, with the module that was called or with
// another.
func TestAFailedCallIsMadeAgain(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{Args: keeping})
	g.CLI(t, "module", "push", "tabs", converter(t, `if host == "trap" { panic("boom of " + host) }; if host == "bad" { return errBroken }; return nil`))
	c := newCronTabs(t, &g.Server, func(crd object) { crd.Set("spec.conversion", wasmConversion("tabs")) })
	kept := func() failures {
		var list failures
		if err := yaml.Unmarshal(c.api.Get(modulePath+"/tabs/failures").Want(200).Body, &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	c.api.Post(c.list("v1beta1"), c.object("v1beta1", "well", `{"host":"well"}`)).Want(201)
	if list := kept(); len(list.Items) > 0 {
		t.Fatalf("before any failed: %+v", list)
	}
	for _, host := range []string{"bad", "trap"} {
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", host, `{"host":"`+host+`"}`)).Want(500)
	}
	list := kept()
	if len(list.Items) != 2 || !strings.Contains(string(list.Items[0].Request), `"host":"trap"`) || !strings.Contains(list.Items[0].Error, "boom of trap") || !strings.Contains(list.Items[1].Error, "it cannot be done") {
		t.Fatalf("%+v", list)
	}
	trap, bad := list.Items[0].ID, list.Items[1].ID
	for _, id := range []string{trap, bad} {
		if !regexp.MustCompile(`^tabs\.[0-9a-f]{12}$`).MatchString(id) {
			t.Errorf("the ID %q", id)
		}
		mustContain(t, g.CLI(t, "module", "logs", "tabs"), "wasmgate module replay "+id)
		mustContain(t, g.Log(), id)
	}
	replayed := func(want int, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), g.Binary, slices.Concat([]string{"module", "replay", "--kubeconfig", g.Kubeconfig}, args)...)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%v: status %d, want %d\n%s", args, got, want, out)
		}
		return string(out)
	}
	mustContain(t, replayed(1, trap), trap+": wasmgate_convert of ", "failed in the gateway ", "log: panic: boom of trap", "in the module:", " fuel, ", "Trap: wasm error: unreachable")
	mustContain(t, replayed(1, bad), "it cannot be done")
	mended := converter(t, `return nil`)
	mustContain(t, replayed(0, trap, mended), `"status": "Success"`)
	mustContain(t, replayed(2, "tabs.000000000000"), "the gateway that answers has no call", "it has 2 calls of wasmmodule/tabs")
	mustContain(t, replayed(2, "tabs"), "is no ID of a call")
	if out, err := run(t, g, "__complete", "module", "replay", "--kubeconfig", g.Kubeconfig, ""); err != nil || !strings.Contains(out, trap) {
		t.Errorf("completion: %v\n%s", err, out)
	}
	mayNotReadFailures(t, g)
}

// mayNotReadFailures: who may read modules and what they wrote has no objects of others
// by it.
func mayNotReadFailures(t *testing.T, g *harness.Gateway) {
	t.Helper()
	api := g.API(t)
	g.Kubectl(t).Must("create", "clusterrolebinding", "authors", "--clusterrole=wasmgate:module-author", "--user=mona")
	g.Kubectl(t).Must("create", "clusterrolebinding", "viewers", "--clusterrole=wasmgate:viewer", "--user=mona")
	api.Eventually(modulePath, func(*harness.Reply) bool {
		return api.Get(modulePath+"/tabs/log", "Impersonate-User", "mona").Code == 200
	})
	api.Get(modulePath+"/tabs/failures", "Impersonate-User", "mona").WantStatus(403, "Forbidden", "wasmmodules/failures")
	api.Get(modulePath+"/none/failures").WantStatus(404, "NotFound", "none")
}

// TestFailedCallsAreNotKeptByDefault: nothing that was sent stays unless it is asked for.
func TestFailedCallsAreNotKeptByDefault(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	g.CLI(t, "module", "push", "tabs", converter(t, `return errBroken`))
	c := newCronTabs(t, &g.Server, func(crd object) { crd.Set("spec.conversion", wasmConversion("tabs")) })
	c.api.Post(c.list("v1beta1"), c.object("v1beta1", "bad", `{}`)).Want(500)
	c.api.Get(modulePath+"/tabs/failures").WantStatus(404, "NotFound", "--module-failed-calls")
	if out, err := g.TryCLI(t, "module", "replay", "tabs.000000000000"); err == nil || !strings.Contains(out, "--module-failed-calls") {
		t.Errorf("%v\n%s", err, out)
	}
}
