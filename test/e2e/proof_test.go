package e2e

import "testing"

// TestProofDoc types the commands of docs/proof.md.
func TestProofDoc(t *testing.T) {
	typeDocument(t, "proof.md", "crontab.wasm", []string{
		"wasmgate_convert", "v1beta1->v1", "language Go",
		"ConversionFails", "port: (nothing)", `+ port: ""`, "crontabs.example.com: lossless: False",
		"crontabs.example.com: lossless: True",
		"apiVersion: example.com/v1\nhost: localhost\n",
		"wasmmodule/crontab ready", "condition met", "customresourcedefinitions/crontabs.example.com: Lost of port, v1 to v1beta1 and back (nothing becomes \"\")", "also host, hostPort",
		"crontabs.example.com configured", "condition met",
	})
}
