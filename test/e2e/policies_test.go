package e2e

import "testing"

// TestPoliciesDoc types the commands of docs/policies.md, in order.
func TestPoliciesDoc_WP02(t *testing.T) {
	typeDocument(t, "policies.md", "labels.wasm", []string{
		"Kubewarden 1", `"warnings": [`, "wasmmodule/labels ready", `denied the request: ConfigMap prices needs a label "team"`, "sales   standard",
	})
}
