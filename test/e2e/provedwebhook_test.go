package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// A webhook over HTTPS is proved where its definition asks for it: the condition of the
// definition names the field and the versions, and with Enforce so does a refusal to bind it.
func TestAWebhookIsProved(t *testing.T) {
	harness.SkipExternal(t)
	hook := harness.NewWebhook(t)
	c := newWebhookCronTabs(t, harness.Shared(t), hook)
	before := len(hook.Reviews())
	c.api.Merge(c.crdPath(), object{"metadata": object{"annotations": object{"conversion.wasmgate.dev/proof": "Report"}}}).Want(200)
	said := func(status, reason string, parts ...string) {
		t.Helper()
		if !harness.Poll(provedWithin, func() bool {
			r, err := c.api.Try("GET", c.crdPath(), nil)
			if err != nil || r.Code != 200 {
				return false
			}
			is := condition(r.Object(), "Lossless")
			message, _ := is["message"].(string)
			for _, part := range parts {
				if !strings.Contains(message, part) {
					return false
				}
			}
			return is["status"] == status && is["reason"] == reason
		}) {
			t.Fatalf("%s %s is not what is said: %s", status, reason, c.api.Get(c.crdPath()).Body)
		}
	}
	said("False", "FieldsLost", "hostPort", "v1beta1 to v1 and back", "for example")
	if len(hook.Reviews()) == before {
		t.Error("the webhook was not asked")
	}
	if is := condition(c.api.Get(c.crdPath()).Object(), "Established"); is["status"] != "True" {
		t.Errorf("Established is %v", is)
	}
	changed := object{"metadata": object{"annotations": object{"conversion.wasmgate.dev/proof": "Enforce"}}, "spec": object{"conversion": object{"webhook": object{"conversionReviewVersions": []string{"v1", "v1beta1"}}}}}
	if r := c.api.Merge(c.crdPath(), changed).Want(422); !r.Contains("the webhook loses what it converts: ") || !r.Contains("hostPort") {
		t.Errorf("%s", r.Body)
	}
	c.api.Merge(c.crdPath(), `{"metadata":{"annotations":{"conversion.wasmgate.dev/proof":null}}}`).Want(200)
	c.api.Eventually(c.crdPath(), func(r *harness.Reply) bool { return len(condition(r.Object(), "Lossless")) == 0 })
}
