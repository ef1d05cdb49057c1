package e2e

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// newWebhookCronTabs creates CronTabs whose definition stores v1beta1
// (spec.hostPort) and serves v1 (spec.host, spec.port) by an HTTPS webhook.
func newWebhookCronTabs(t testing.TB, s *harness.Server, hook *harness.Webhook) *cronTabs {
	t.Helper()
	return newCronTabs(t, s, func(crd object) {
		crd.Set("spec.conversion", map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig":             map[string]any{"url": hook.URL, "caBundle": base64.StdEncoding.EncodeToString(hook.CABundle)},
		}})
		storeAt(crd, "v1beta1")
	})
}

// storeAt makes one version of a definition the storage version.
func storeAt(crd object, version string) {
	for _, v := range crd.At("spec.versions").([]any) {
		v := v.(map[string]any)
		v["storage"] = v["name"] == version
	}
}

// faults are the ways in which a webhook can break the contract.
var faults = map[string]harness.Fault{
	"it answers 500": func(w http.ResponseWriter, _, _ object) bool {
		http.Error(w, "out of order", http.StatusInternalServerError)
		return false
	},
	"it answers no JSON": func(w http.ResponseWriter, _, _ object) bool {
		_, _ = w.Write([]byte("<html>"))
		return false
	},
	"it says Failed": func(_ http.ResponseWriter, _, reply object) bool {
		reply.Set("response.result", map[string]any{"status": "Failed", "message": "hostPort could not be parsed"})
		return true
	},
	"another uid": func(_ http.ResponseWriter, _, reply object) bool {
		reply.Set("response.uid", "0000")
		return true
	},
	"another review version": func(_ http.ResponseWriter, _, reply object) bool {
		reply["apiVersion"] = "apiextensions.k8s.io/v1beta1"
		return true
	},
	"an object too few":           mutate(func(all []any) []any { return all[1:] }),
	"an object too many":          mutate(func(all []any) []any { return append(all, all[0]) }),
	"an object at another group":  edit(func(o object) { o["apiVersion"] = "other.example.com/v1" }),
	"an object of another kind":   edit(func(o object) { o["kind"] = "Other" }),
	"an object with another name": edit(func(o object) { o.Set("metadata.name", "other") }),
	"an object with another uid":  edit(func(o object) { o.Set("metadata.uid", "0000") }),
	"an object without metadata":  edit(func(o object) { delete(o, "metadata") }),
}

func mutate(f func([]any) []any) harness.Fault {
	return func(_ http.ResponseWriter, _, reply object) bool {
		all, _ := reply.At("response.convertedObjects").([]any)
		reply.Set("response.convertedObjects", f(all))
		return true
	}
}

func edit(f func(object)) harness.Fault {
	return mutate(func(all []any) []any {
		for _, o := range all {
			f(o.(map[string]any))
		}
		return all
	})
}

func TestWebhookConversion(t *testing.T) {
	s := harness.Shared(t)
	hook := harness.NewWebhook(t)
	c := newWebhookCronTabs(t, s, hook)

	c.run("CRD-11 every verb converts", func(t *testing.T, c *cronTabs) {
		w := c.api.Watch(c.list("v1") + "?watch=1&resourceVersion=" + c.rv())
		at := func(e harness.Event, port string) {
			t.Helper()
			if o := e.Object; o.Str("apiVersion") != c.group+"/v1" || o.Str("spec.host") != "a" || o.Str("spec.port") != port || o.Str("spec.hostPort") != "" {
				t.Errorf("event %s is not converted: %v", e, o)
			}
		}
		c.api.Post(c.list("v1"), c.object("v1", "one", `{"host":"a","port":"1"}`)).Want(201).Equal("spec.host", "a").Equal("apiVersion", c.group+"/v1")
		at(w.Expect("ADDED", "one"), "1")
		c.api.Get(c.path("v1beta1", "one")).Want(200).Equal("spec.hostPort", "a:1").Equal("spec.host", "")
		o := c.api.Get(c.path("v1", "one")).Want(200).Equal("spec.host", "a").Object()
		o.Set("spec.port", "2")
		c.api.Put(c.path("v1", "one"), o).Want(200).Equal("spec.port", "2")
		at(w.Expect("MODIFIED", "one"), "2")
		c.api.Merge(c.path("v1", "one"), `{"spec":{"port":"3"}}`).Want(200).Equal("spec.port", "3")
		at(w.Expect("MODIFIED", "one"), "3")
		c.api.Get(c.list("v1beta1")).Want(200).Equal("items.0.spec.hostPort", "a:3").Equal("items.0.apiVersion", c.group+"/v1beta1")
		c.api.Get(c.list("v1")).Want(200).Equal("items.0.spec.port", "3").Equal("items.0.spec.hostPort", "")
		c.api.Delete(c.path("v1", "one")).Want(200)
		at(w.Expect("DELETED", "one"), "3")
	})
	c.run("CRD-13 the review is the documented one", func(t *testing.T, c *cronTabs) {
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", "seen", `{"hostPort":"b:1"}`)).Want(201)
		c.api.Get(c.path("v1", "seen")).Want(200)
		for _, r := range hook.Reviews() {
			if r.Str("kind") != "ConversionReview" || r.Str("apiVersion") != "apiextensions.k8s.io/v1" || r.Str("request.uid") == "" ||
				!strings.HasPrefix(r.Str("request.desiredAPIVersion"), c.group+"/v1") || r.Str("request.objects.0.kind") != "CronTab" {
				t.Errorf("review %v", r)
			}
			if r.Str("request.objects.0.apiVersion") == r.Str("request.desiredAPIVersion") {
				t.Error("an object that needs no conversion was sent")
			}
		}
		c.api.Delete(c.path("v1", "seen")).Want(200)
	})
	takesFromConversions(s, hook, c)
}

// takesFromConversions shows what of a conversion counts, and that reading stores nothing.
func takesFromConversions(s *harness.Server, hook *harness.Webhook, c *cronTabs) {
	c.run("CRD-17 only labels and annotations of the metadata are taken over", func(t *testing.T, c *cronTabs) {
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", "meta", `{"hostPort":"c:1"}`)).Want(201)
		hook.Inject(edit(func(o object) {
			o.Set("metadata.labels", map[string]any{"converted": "yes"})
			o.Set("metadata.annotations", map[string]any{"converted": "yes"})
			o.Set("metadata.finalizers", []any{"example.com/made-up"})
			o.Set("metadata.resourceVersion", "1")
			o.Set("metadata.creationTimestamp", "2001-01-01T00:00:00Z")
			o.Set("metadata.ownerReferences", []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y"}})
		}))
		stored := c.api.Get(c.path("v1beta1", "meta")).Want(200).Object()
		c.api.Get(c.path("v1", "meta")).Want(200).Equal("metadata.labels.converted", "yes").Equal("metadata.annotations.converted", "yes").
			Equal("metadata.finalizers", "").Equal("metadata.ownerReferences", "").
			Equal("metadata.resourceVersion", stored.RV()).Equal("metadata.creationTimestamp", stored.Str("metadata.creationTimestamp"))
		hook.Inject(nil)
		c.api.Delete(c.path("v1", "meta")).Want(200)
	})
	c.run("CRD-28 CRD-26 reading does not rewrite what is stored", func(t *testing.T, c *cronTabs) {
		etcd := s.Etcd(t)
		c.api.Post(c.list("v1"), c.object("v1", "read", `{"host":"r","port":"1"}`)).Want(201)
		before := stored(t, etcd, c.storageKey("read"))
		c.api.Get(c.path("v1", "read")).Want(200)
		c.api.Get(c.list("v1")).Want(200)
		after := stored(t, etcd, c.storageKey("read"))
		if before.revision != after.revision || after.Str("apiVersion") != c.group+"/v1beta1" || after.Str("spec.hostPort") != "r:1" {
			t.Errorf("stored before %v, after %v", before, after)
		}
		c.api.Delete(c.path("v1", "read")).Want(200)
	})
}

func TestWebhookFaults(t *testing.T) {
	s := harness.Shared(t)
	hook := harness.NewWebhook(t)
	c := newWebhookCronTabs(t, s, hook)
	for name, fault := range faults {
		c.run("CRD-15 CRD-16 CRD-17 CRD-18 "+name, func(t *testing.T, c *cronTabs) {
			object := strings.ReplaceAll(strings.ToLower(name), " ", "-")
			c.api.Post(c.list("v1beta1"), c.object("v1beta1", object, `{"hostPort":"a:1"}`)).Want(201)
			hook.Inject(fault)
			defer hook.Inject(nil)
			r := c.api.Get(c.path("v1", object)).WantStatus(500, "", "conversion webhook for "+c.group+"/v1beta1, Kind=CronTab")
			if name == "it says Failed" && !r.Contains("hostPort could not be parsed") {
				t.Errorf("the webhook's message is lost: %s", r.Body)
			}
			c.api.Merge(c.path("v1", object), `{"spec":{"port":"2"}}`).Want(500)
			c.api.Get(c.path("v1beta1", object)).Want(200).Equal("spec.hostPort", "a:1")
			// kube-apiserver lists from a cache of each version: while that cannot
			// start it answers 429 to every list, even of metadata.
			if !s.External {
				c.api.Get(c.list("v1")).Want(500)
				c.api.Get(c.list("v1beta1")).Want(200)
				c.api.Get(c.list("v1"), "Accept", metaList).Want(200).Equal("kind", "PartialObjectMetadataList")
			}
			hook.Inject(nil)
			c.api.Get(c.path("v1", object)).Want(200).Equal("spec.port", "1")
			c.api.Delete(c.path("v1", object)).Want(200)
		})
	}
}

// TestServiceReference has a webhook behind a service that is nowhere, so that
// the refusal shows where it was looked for.
func TestServiceReference(t *testing.T) {
	s := harness.Shared(t)
	for name, tc := range map[string]struct{ service, port, asked string }{
		"defaults":   {`{"namespace":"nowhere","name":"hook"}`, "443", "https://hook.nowhere.svc:443/?timeout=30s"},
		"everything": {`{"namespace":"nowhere","name":"hook","port":1234,"path":"/my-path"}`, "1234", "https://hook.nowhere.svc:1234/my-path?timeout=30s"},
	} {
		t.Run("CRD-22 "+name, func(t *testing.T) {
			c := newCronTabs(t, s, func(crd object) {
				crd.Set("spec.conversion", map[string]any{"strategy": "Webhook", "webhook": map[string]any{
					"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"service": map[string]any(parse(t, tc.service))},
				}})
			})
			c.api.Get(c.crdPath()).Want(200).Equal("spec.conversion.webhook.clientConfig.service.port", tc.port)
			c.create("one")
			c.api.Get(c.path("v1", "one")).Want(200)
			c.api.Get(c.path("v1beta1", "one")).WantStatus(500, "", "conversion webhook for "+c.group+"/v1, Kind=CronTab failed: Post \""+tc.asked+"\"")
		})
	}
}
