package docs

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestRulesDoc types the commands of docs/rules.md: two versions of CronTab by rules
// alone, proved, created, read and changed at both, and rules that are refused.
func TestRulesDoc(t *testing.T) {
	typeDocument(t, "rules.md", "none.wasm", []string{
		"lossless: True", "host: localhost", `port: "1234"`,
		"conversionrules.wasmgate.dev/crontabs created", "condition met", "condition met", "local-crontab created",
		"localhost 1234", "patched", "localhost:99", `port: "1234"`, "example.org:80", "condition met",
		"NAME", "FROM", "TO", "READY", "LOSSLESS", `crontabs   v1beta1   v1    True    True`,
		"spec.conversions[0].rules", "does not say the way back: add back",
		"the rules are in use by customresourcedefinitions/crontabs.example.com",
	})
}

// TestPlanDoc types docs/plan.md.
func TestPlanDoc(t *testing.T) {
	typeDocument(t, "plan.md", "none.wasm", []string{
		"crontabs.example.com, all to be stored at v1", "v1beta1   true     listed", "in use", "v1        true     storage", "stays",
		"In the way:", "uses it, as kubectl/", "change this client to v1", "ci applies at it, and owns fields of 1 object", "let it apply at v1",
		"1. migrate v1: what is stored at v1beta1 (1 object) is written at it", "wasmgate migrate crontabs.example.com", "2. switch off v1beta1 (served: false; not yet)", "3. remove v1beta1 (not yet)",
		"migrated: 1 object", "can be switched off, or removed", "1. switch off v1beta1 (served: false):", "2. remove v1beta1:", `"canRemove": true`, "patched",
		`"kind":"DefinitionUsage"`, `"stored":[{"version":"v1","objects":1}]`,
	})
}

// TestReplayDoc types docs/replay.md.
func TestReplayDoc(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	typeAt(t, harness.Start(t, harness.Options{Accounts: true, Args: []string{"--module-failed-calls=1048576"}}), root, "replay.md", "crontab.wasm", []string{
		"wasmmodule/crontab ready", "condition met", "hostPort could not be parsed", "a call of wasmgate_convert failed, and is kept: wasmgate module replay crontab.",
		"wasmgate_convert of ", "failed in the gateway ", "Here:", "wasmgate_convert: ", " fuel, ", "refused: ", `"fuel": `, "1\n",
	})
}

// TestVersionPriorityDoc types the commands of docs/version-priority.md, in
// order: from the module's source to what kubectl get picks.
func TestVersionPriorityDoc_WP03(t *testing.T) {
	typeDocument(t, "version-priority.md", "releases.wasm", []string{
		"first created", "releases.example.com/r2024-10\n", "ready",
		"releases.example.com   r2024-10, r2025-04   r2025-04, r2024-10", "condition met",
		"releases.example.com/r2025-04", "releases.example.com/r2025-04\n", "VERSION:    r2025-04",
	})
}
