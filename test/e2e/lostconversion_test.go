package e2e

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestAConversionIsNotLostInSilence drops the converter of a definition: before there are
// objects, while they need it, and with the word of who knows. A webhook may be dropped, as
// from kube-apiserver, which warns, unless the definition asks to keep it.
func TestAConversionIsNotLostInSilence_CRD11(t *testing.T) {
	harness.SkipExternal(t)
	s := harness.Shared(t)
	hook := harness.NewWebhook(t)
	c := newWebhookCronTabs(t, s, hook)
	var converter any
	drop := func(crd object) {
		converter = crd.At("spec.conversion")
		crd.Set("spec.conversion", map[string]any{"strategy": "None"})
	}
	restore := func() {
		t.Helper()
		c.updateDefinition(c.crdPath(), func(crd object) { crd.Set("spec.conversion", converter) }).Want(200)
		c.api.Eventually(c.list("v1"), func(r *harness.Reply) bool { return r.Code == 200 })
	}
	if r := c.updateDefinition(c.crdPath(), drop).Want(200); r.Header.Get("Warning") != "" {
		t.Errorf("warned, though there are no objects: %s", r.Header.Get("Warning"))
	}
	restore()
	c.api.Post(c.list("v1"), c.object("v1", "one", `{"host":"a","port":"1"}`)).Want(201)

	if r := c.updateDefinition(c.crdPath(), drop).Want(200); !strings.Contains(r.Header.Get("Warning"), "stored at v1beta1") || !strings.Contains(r.Header.Get("Warning"), "v1 is served") {
		t.Errorf("warned: %q", r.Header.Get("Warning"))
	}
	restore()
	const keep = `{"metadata":{"annotations":{"conversion.wasmgate.dev/allow-loss":"false"}}}`
	c.api.Merge(c.crdPath(), keep).Want(200)
	c.updateDefinition(c.crdPath(), drop).WantStatus(422, "Invalid", "spec.conversion", "stored at v1beta1", "v1 is served", "conversion.wasmgate.dev/allow-loss")
	c.api.Merge(c.crdPath(), `{"metadata":{"annotations":null},"spec":{"conversion":{"strategy":"None","webhook":null}}}`).WantStatus(422, "Invalid", "stored at v1beta1")
	c.api.Get(c.path("v1", "one")).Want(200).Equal("spec.host", "a")
	c.api.Merge(c.crdPath(), `{"metadata":{"annotations":{"other":"change"}}}`).Want(200)

	c.api.Merge(c.crdPath(), `{"metadata":{"annotations":{"conversion.wasmgate.dev/allow-loss":"true"}},"spec":{"conversion":{"strategy":"None","webhook":null}}}`).Want(200)
}

// TestAModuleIsNotDroppedInSilence_CRD11 drops a module and rules that objects need, which
// no client of kube-apiserver knows of.
func TestAModuleIsNotDroppedInSilence_CRD11(t *testing.T) {
	harness.SkipExternal(t)
	for _, name := range []string{"crontab", "rules/crontab"} { // neither has to be there
		c := newCronTabs(t, harness.Shared(t), nil)
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", "one", `{"hostPort":"a:1"}`)).Want(201)
		c.updateDefinition(c.crdPath(), func(crd object) { crd.Set("spec.conversion", wasmConversion(name)) }).Want(200)
		c.updateDefinition(c.crdPath(), func(crd object) {
			crd.Set("spec.conversion", map[string]any{"strategy": "None"})
		}).WantStatus(422, "Invalid", "spec.conversion", "conversion.wasmgate.dev/allow-loss")
	}
}

// TestAConverterThatConvertsLessDoesNotTakeOver replaces a webhook while objects need it.
func TestAConverterThatConvertsLessDoesNotTakeOver_CRD11(t *testing.T) {
	harness.SkipExternal(t)
	c := newWebhookCronTabs(t, harness.Shared(t), harness.NewWebhook(t))
	c.api.Post(c.list("v1"), c.object("v1", "one", `{"host":"a","port":"1"}`)).Want(201)
	replaceBy := func(hook *harness.Webhook) *harness.Reply {
		return c.updateDefinition(c.crdPath(), func(crd object) {
			crd.Set("spec.conversion.webhook.clientConfig", object{"url": hook.URL, "caBundle": base64.StdEncoding.EncodeToString(hook.CABundle)})
		})
	}
	const said = "the new converter converts less than the present one"

	refusing := harness.NewWebhook(t)
	refusing.Inject(func(_ http.ResponseWriter, _, reply object) bool {
		reply.Set("response.result", object{"status": "Failure", "message": "port has to be a number"})
		reply.Set("response.convertedObjects", []any{})
		return true
	})
	replaceBy(refusing).WantStatus(422, "Invalid", "spec.conversion", said, c.ns+"/one", "port has to be a number", "conversion.wasmgate.dev/allow-loss")

	losing := harness.NewWebhook(t)
	losing.Inject(edit(func(o object) {
		if spec, ok := o["spec"].(map[string]any); ok {
			delete(spec, "port")
		}
	}))
	replaceBy(losing).WantStatus(422, "Invalid", said, "it loses", "spec.")
	c.api.Get(c.path("v1", "one")).Want(200).Equal("spec.port", "1")

	replaceBy(harness.NewWebhook(t)).Want(200) // which does the same as the first
	if r := replaceBy(&harness.Webhook{URL: "https://127.0.0.1:1/convert", CABundle: losing.CABundle}).Want(200); !strings.Contains(r.Header.Get("Warning"), "could not be tried") {
		t.Errorf("warned: %s", r.Header.Get("Warning"))
	}
	c.api.Merge(c.crdPath(), `{"metadata":{"annotations":{"conversion.wasmgate.dev/allow-loss":"true"}}}`).Want(200)
	replaceBy(losing).Want(200)
	c.api.Get(c.path("v1", "one")).Want(200).Equal("spec.port", "")
}
