package docs

import "testing"

// TestProofDoc types the commands of docs/proof.md.
func TestProofDoc(t *testing.T) {
	typeDocument(t, "proof.md", "crontab.wasm", []string{
		"wasmgate_convert", "v1beta1->v1", "language Go",
		"ConversionFails", "port: (nothing)", `+ port: ""`, "crontabs.example.com: lossless: False",
		"crontabs.example.com: lossless: True",
		"crontab-v1beta1.yaml: v1beta1 to v1 and back", `failures="0"`, "crontab-v1beta1.v1.yaml",
		"apiVersion: example.com/v1\nkind: CronTab\n", "host: localhost\nport: \"1234\"\n",
		"crontab.wasm.manifests/crontab-v1beta1.yaml\n", "files are not at version v1", "apiVersion: example.com/v1\nkind: CronTab\n",
		"wasmmodule/crontab ready", "condition met", "customresourcedefinitions/crontabs.example.com: Lost of port, v1 to v1beta1 and back (nothing becomes \"\")", "also host, hostPort",
		"crontabs.example.com configured", "condition met",
		"crontab patched", "spec.conversion.webhook.clientConfig.url: Invalid value: \"crontab\": the module loses what it converts: Lost of port, v1 to v1beta1 and back", "acknowledgedLoss",
		"local-crontab created", "crontabs.example.com: 1 sample in ", "of 1 object at v1beta1; they have 1 of 1 fields", "hostPort: ", "ok",
	})
}
