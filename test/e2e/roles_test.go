package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestRolesWarnThatTheyGrantNothing: whoever writes a role or a binding is told where
// it is written that nothing evaluates it; nobody else is.
func TestRolesWarnThatTheyGrantNothing(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	k := g.Kubectl(t)
	const warning = "Warning: RBAC is not evaluated here"
	writes := func(warns bool, args ...string) {
		t.Helper()
		_, said, err := k.Run(args...)
		if err != nil || strings.Count(said, warning) != map[bool]int{true: 1}[warns] {
			t.Errorf("kubectl %q: %v\n%s", args, err, said)
		}
	}
	for _, dry := range []string{"--dry-run=server", "--dry-run=none"} {
		writes(true, "create", "role", "r", "--verb=get", "--resource=pods", dry)
		writes(true, "create", "clusterrole", "r", "--verb=get", "--resource=pods", dry)
		writes(true, "create", "rolebinding", "r", "--role=r", "--user=jane", dry)
		writes(true, "create", "clusterrolebinding", "r", "--clusterrole=r", "--user=jane", dry)
	}
	writes(true, "label", "role", "r", "a=b")
	writes(false, "get", "roles,clusterroles,rolebindings,clusterrolebindings")
	writes(false, "delete", "role", "r")
	writes(false, "create", "configmap", "r")

	if _, said, err := k.Run("create", "token", "default"); err == nil || !strings.Contains(said, `serviceaccounts "default" not found`) {
		t.Errorf("a token of a service account that does not exist: %v\n%s", err, said)
	}
	writes(false, "create", "serviceaccount", "default")
	writes(false, "create", "token", "default")
}
