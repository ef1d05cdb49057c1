package e2e

import (
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// identified demands that the usual identity signs modules of a name, or images with them.
func identified(by *keylesstest.Sigstore, name string) keylesstest.Tree {
	return keylesstest.Tree{"apiVersion": "wasmgate.dev/v1", "kind": "ModuleTrust", "metadata": keylesstest.Tree{"name": name}, "spec": keylesstest.Tree{
		"modules": keylesstest.Tree{"names": []any{name}},
		"authorities": []any{keylesstest.Tree{"name": "ci", "images": true, "keyless": keylesstest.Tree{
			"issuer": keylesstest.Issuer, "subject": keylesstest.Subject, "trustedRoot": by.TrustedRoot(),
		}}},
	}}
}

// TestKeylessTrust has modules that carry a bundle be uploaded, and others be pulled whose
// image has one that refers to it; two gateways judge them, one of them when it starts.
func TestKeylessTrust(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	first := harness.Start(t, harness.Options{})
	second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL})
	api, ci, module := first.API(t), keylesstest.New(t), plugintest.Build(t, plugintest.CronTab)
	carrying := func(bundle string) []byte {
		t.Helper()
		out, err := signature.Join(module, []signature.Signature{{Bundle: bundle}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	half := identified(ci, "half")
	delete(half["spec"].(keylesstest.Tree)["authorities"].([]any)[0].(keylesstest.Tree)["keyless"].(keylesstest.Tree), "subject")
	api.Post(trusts, ci.JSON(half)).WantStatus(422, "Invalid", "spec.authorities[0].keyless", "exactly one of subject and subjectPattern must be set")
	api.Post(trusts, ci.JSON(identified(ci, "crontab"))).Want(201)
	newModule(t, api, "crontab")
	for _, c := range keylesstest.Tamperings() {
		if c.Want != "" {
			content(api, "crontab", carrying(c.Do(ci, module[:len(module):len(module)]))).WantStatus(422, "Invalid", "content: ", "ModuleTrust")
		}
	}
	content(api, "crontab", carrying(ci.JSON(ci.Blob(module)))).Want(200)
	awaitTrusted(api, "crontab", "True", "Signed", "True")
	api.Get(modulePath+"/crontab").Want(200).
		Equal("status.signedBy.0.subject", keylesstest.Subject).Equal("status.signedBy.0.issuer", keylesstest.Issuer)

	host := ocitest.StartReferrers(t)
	image := ocitest.Push(t, host+"/team/tabs", "v1", auth.Credential{}, ocitest.Layer{MediaType: "application/wasm", Content: module})
	api.Post(trusts, ci.JSON(identified(ci, "tabs"))).Want(201)
	api.Post(modulePath, `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"tabs"},"spec":{"source":{"oci":{"image":"`+host+`/team/tabs:v1"}}}}`).Want(201)
	api.Eventually(modulePath+"/tabs", func(r *harness.Reply) bool { return condition(r.Object(), "Pulled")["reason"] == "Unsigned" })
	ocitest.Refer(t, host+"/team/tabs", image, []byte(ci.JSON(ci.Envelope(ci.Statement(keylesstest.Signed, image, nil)))))
	api.Merge(modulePath+"/tabs", `{"metadata":{"annotations":{"wasmgate.dev/retry":"1"}}}`).Want(200)
	awaitTrusted(api, "tabs", "True", "Signed", "True")

	second.Terminate(t)
	api.Merge(trusts+"/tabs", ci.JSON(keylesstest.Tree{"spec": identified(keylesstest.New(t), "tabs")["spec"]})).Want(200)
	second.Restart(t)
	for _, at := range []*harness.API{api, second.API(t)} {
		awaitTrusted(at, "tabs", "False", "SignatureUntrusted", "False") // as the roots are others
		awaitTrusted(at, "crontab", "True", "Signed", "True")
	}
}
