package docs

import "testing"

// TestAccessDoc types docs/access.md: who is let in may do what it says, and no more.
func TestAccessDoc(t *testing.T) {
	typeDocument(t, "access.md", "none.wasm", []string{
		"yes\nno\n", "rolebinding.rbac.authorization.k8s.io/bob created", "yes\n",
		`user "ann" (groups=["team" "system:authenticated"]) is attempting to grant RBAC permissions not currently held`, `"ann" cannot create resource "clusterrolebindings"`,
		"yes\n", "yes\n", "yes\n", "no\n",
		"versionpriority.wasmgate.dev/newest created", `spec.module: User "olga" cannot use resource "wasmmodules"`,
		"wasmmodule.wasmgate.dev/quiet created", `spec.grants[0]: User "mona" cannot get resource "secrets" in API group "" in the namespace "team"`,
		"[get list watch update]", "kube-root-ca.crt", "clusterrolebinding.rbac.authorization.k8s.io/issuer created", `{"keys":[`,
		"role.rbac.authorization.k8s.io/robot reconciled", "yes\n",
	})
}
