package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// contractFaults are the ways to break the contract of conversions that a
// webhook and a module share, by the names that the module in testdata/faulty
// knows, each with how a webhook does it: to its reply, or to each object.
var contractFaults = map[string]struct {
	review func(reply object)
	object func(o object)
}{
	"uid":         {object: func(o object) { o.Set("metadata.uid", "changed") }},
	"name":        {object: func(o object) { o.Set("metadata.name", "changed") }},
	"namespace":   {object: func(o object) { o.Set("metadata.namespace", "changed") }},
	"kind":        {object: func(o object) { o["kind"] = "Changed" }},
	"group":       {object: func(o object) { o["apiVersion"] = "other.example.com/v1" }},
	"no-metadata": {object: func(o object) { delete(o, "metadata") }},
	"bad-label":   {object: func(o object) { o.Set("metadata.labels", map[string]any{"a b": "c"}) }},
	"made-up": {object: func(o object) {
		o.Set("metadata.finalizers", []any{"example.com/made-up"}).Set("metadata.labels", map[string]any{"converted": "yes"})
	}},
	"count":          {review: func(r object) { convertedBy(r, func(all []any) []any { return append(all, all[0]) }) }},
	"none":           {review: func(r object) { convertedBy(r, func([]any) []any { return []any{} }) }},
	"null":           {review: func(r object) { convertedBy(r, func([]any) []any { return []any{nil} }) }},
	"review-uid":     {review: func(r object) { r.Set("response.uid", "0000") }},
	"review-version": {review: func(r object) { r["apiVersion"] = "apiextensions.k8s.io/v1beta1" }},
	"review-kind":    {review: func(r object) { r["kind"] = "Review" }},
	"failed": {review: func(r object) {
		r.Set("response.result", map[string]any{"status": "Failed", "message": "it cannot be parsed"})
	}},
	"failed-silently": {review: func(r object) { r.Set("response.result", map[string]any{"status": "Failed"}) }},
	"no-result":       {review: func(r object) { delete(r.At("response").(map[string]any), "result") }},
	"well":            {},
}

func convertedBy(reply object, f func([]any) []any) {
	all, _ := reply.At("response.convertedObjects").([]any)
	reply.Set("response.convertedObjects", f(all))
}

// breakByAnnotation breaks a webhook's reply in the way that the first object
// asks for in its annotation "fault".
func breakByAnnotation(_ http.ResponseWriter, request, reply object) bool {
	fault := contractFaults[request.Str("request.objects.0.metadata.annotations.fault")]
	all, _ := reply.At("response.convertedObjects").([]any)
	for _, o := range all {
		if fault.object != nil {
			fault.object(o.(map[string]any))
		}
	}
	if fault.review != nil {
		fault.review(reply)
	}
	return true
}

// itself is how messages speak of a module.
var itself = regexp.MustCompile(`conversion module \\"[a-z0-9-]+\\"|; what it wrote is told by: wasmgate module logs [a-z0-9-]+`)

// asOfAWebhook is a message as it is about a webhook.
func asOfAWebhook(text string) string {
	return itself.ReplaceAllStringFunc(text, func(said string) string {
		if strings.HasPrefix(said, ";") {
			return ""
		}
		return "conversion webhook"
	})
}

var anyUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// outcome is a reply without what differs between two definitions.
func (c *cronTabs) outcome(r *harness.Reply) string {
	o := r.Object()
	if o["kind"] == "Status" {
		o = object{"code": r.Code, "reason": o["reason"], "message": o["message"]}
	} else {
		o = object{"code": r.Code, "apiVersion": o["apiVersion"], "spec": o["spec"], "labels": o.At("metadata.labels"), "finalizers": o.At("metadata.finalizers"), "first": o.At("items.0.spec")}
	}
	return anyUID.ReplaceAllString(asOfAWebhook(strings.NewReplacer(c.group, "GROUP", c.ns, "NAMESPACE").Replace(o.Str(""))), "UID")
}

// TestContractIsOne breaks the contract in the same ways through a webhook and
// through a module: clients cannot tell which of the two it was, but by its name.
func TestContractIsOne(t *testing.T) {
	harness.SkipExternal(t)
	s := harness.Shared(t)
	hook := harness.NewWebhook(t)
	hook.Inject(breakByAnnotation)
	byHook := newWebhookCronTabs(t, s, hook)
	module := "contract-" + unique()
	pushModule(t, s.API(t), module, harness.Module(t, "testdata/faulty"))
	byModule := newWasmCronTabs(t, s, module)
	for fault := range contractFaults {
		t.Run("WP-01 CRD-15 CRD-16 CRD-17 "+fault, func(t *testing.T) {
			var outcomes [2][]string
			for i, from := range []*cronTabs{byHook, byModule} {
				c := *from
				c.t, c.api = t, s.API(t)
				o := c.object("v1beta1", "x-"+fault, `{"replicas":1}`)
				o.Set("metadata.annotations", map[string]any{"fault": fault})
				c.api.Post(c.list("v1beta1"), o).Want(201)
				path := c.path("v1", "x-"+fault)
				for _, r := range []*harness.Reply{
					c.api.Get(path), c.api.Get(c.list("v1") + "?fieldSelector=metadata.name%3Dx-" + fault), c.api.Merge(path, `{"spec":{"replicas":2}}`),
					c.api.Put(path, c.object("v1", "x-"+fault, `{}`).Set("metadata.resourceVersion", "1")),
					c.api.Get(path, "Accept", metaAccept), c.api.Get(path, "Accept", tableAccept),
				} {
					outcomes[i] = append(outcomes[i], c.outcome(r))
				}
				c.api.Delete(c.path("v1beta1", "x-"+fault)).Want(200)
			}
			for i := range outcomes[0] {
				if outcomes[0][i] != outcomes[1][i] {
					t.Errorf("request %d\nby the webhook %s\nby the module  %s", i, outcomes[0][i], outcomes[1][i])
				}
			}
			broken := fault != "well" && fault != "made-up"
			if got := strings.Contains(outcomes[0][0], `"code":500`); got != broken {
				t.Errorf("a get ends with %s", outcomes[0][0])
			}
		})
	}
}
