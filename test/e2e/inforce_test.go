package e2e

import (
	"encoding/base64"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/test/harness"
)

var rounds = flag.Int("rounds", 60, "how many rounds of a changed definition and its use through another gateway TestChangedDefinitionsAreInForce has")

// TestChangedDefinitionsAreInForce changes a definition through one of two gateways, and
// uses what changed through the other as soon as the write has returned: never is there
// an answer by what was in force before.
func TestChangedDefinitionsAreInForce_CRD01_CRD24(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	first := harness.Start(t, harness.Options{})
	second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL})
	hook := harness.NewWebhook(t)
	c := newCronTabs(t, &first.Server, nil)
	d := &changing{cronTabs: c, hook: hook, v1: `"known":{"type":"integer"},"hostPort":{"type":"string"},"host":{"type":"string"}`, versions: []string{"v1beta1", "v1"}, stored: "v1"}
	d.gateways[0], d.gateways[1] = c.api, second.API(t)
	d.define()
	d.there().Post(c.list("v1"), c.object("v1", "old", `{"known":1,"hostPort":"h:1"}`)).Want(201)
	steps := []func(string){d.property, d.validation, d.version, d.defaulted, d.stores, d.converts, d.subresource, d.watched, d.unmade}
	for n := range *rounds {
		d.turn = n / len(steps) % 2
		steps[n%len(steps)](strconv.Itoa(n))
		if t.Failed() {
			t.Fatalf("in round %d", n)
		}
	}
}

// changing is a definition that is written through one gateway and used through another.
type changing struct {
	*cronTabs
	hook     *harness.Webhook
	gateways [2]*harness.API
	turn     int
	v1       string // the properties of its spec
	versions []string
	stored   string
	hooked   bool
	status   bool
}

func (d *changing) here() *harness.API  { return d.gateways[d.turn] }
func (d *changing) there() *harness.API { return d.gateways[1-d.turn] }

// spec is what is to be in force.
func (d *changing) spec() object {
	versions := []any{}
	for _, v := range d.versions {
		one := object{"name": v, "served": true, "storage": v == d.stored, "schema": object{"openAPIV3Schema": parse(d.t, `{"type":"object","properties":{"spec":{"type":"object","properties":{`+d.v1+`}}}}`)}}
		if d.status {
			one["subresources"] = object{"status": object{}}
		}
		versions = append(versions, one)
	}
	conversion := object{"strategy": "None", "webhook": nil}
	if d.hooked {
		conversion = object{"strategy": "Webhook", "webhook": object{"conversionReviewVersions": []any{"v1"},
			"clientConfig": object{"url": d.hook.URL, "caBundle": base64.StdEncoding.EncodeToString(d.hook.CABundle)}}}
	}
	return object{"versions": versions, "conversion": conversion}
}

// define puts it in force.
func (d *changing) define() {
	d.t.Helper()
	d.here().Merge(d.crdPath(), object{
		"metadata": object{"annotations": object{"conversion.wasmgate.dev/allow-loss": "true"}}, "spec": d.spec()}).Want(200)
}

// with is an object of v1 with one field.
func (d *changing) with(name, field string, value any) object {
	o := d.object("v1", name, `{}`)
	o.Set("spec."+field, value)
	return o
}

const strict = "?fieldValidation=Strict"

// property adds a property and takes it away.
func (d *changing) property(n string) {
	before := d.v1
	d.v1 += `,"p` + n + `":{"type":"string"}`
	d.define()
	d.there().Post(d.list("v1")+strict, d.with("p"+n, "p"+n, "x")).Want(201).Equal("spec.p"+n, "x")
	d.v1 = before
	d.define()
	d.there().Get(d.path("v1", "p"+n)).Want(200).Equal("spec.p"+n, "")
	d.there().Post(d.list("v1")+strict+"&dryRun=All", d.with("q"+n, "p"+n, "x")).WantStatus(400, "BadRequest", "unknown field")
	d.v1 += `,"p` + n + `":{"type":"string"}`
	d.define()
	d.there().Get(d.list("v1")+"?fieldSelector=metadata.name=p"+n).Want(200).Equal("items.0.spec.p"+n, "x")
	d.v1 = before
	d.define()
	d.there().Merge(d.path("v1", "old"), `{"spec":{"p`+n+`":"x"}}`).Want(200).Equal("spec.p"+n, "")
	d.there().Delete(d.path("v1", "p"+n)).Want(200)
}

// validation tightens what is valid and loosens it.
func (d *changing) validation(n string) {
	before := d.v1
	d.v1 += `,"m` + n + `":{"type":"integer","maximum":10}`
	d.define()
	d.there().Post(d.list("v1"), d.with("m"+n, "m"+n, 11)).WantStatus(422, "Invalid", "should be less than or equal to 10")
	d.v1 = before + `,"m` + n + `":{"type":"integer","maximum":20}`
	d.define()
	d.there().Post(d.list("v1")+"?dryRun=All", d.with("m"+n, "m"+n, 11)).Want(201)
	d.v1 = before
	d.define()
	d.there().Post(d.list("v1")+"?dryRun=All", d.with("m"+n, "m"+n, 11)).Want(201).Equal("spec.m"+n, "")
}

// version serves one more version and takes it away.
func (d *changing) version(n string) {
	v := "v2alpha" + n
	d.versions = append(d.versions, v)
	d.define()
	d.there().Get(d.path(v, "old")).Want(200).Equal("apiVersion", d.group+"/"+v)
	if r := d.there().Get("/apis/" + d.group); !r.Contains(v) {
		d.t.Errorf("discovery lacks %s: %s", v, r.Body)
	}
	d.versions = d.versions[:2]
	d.define()
	d.there().Get("/apis/" + d.group + "/" + v).Want(404)
	d.there().Get(d.path(v, "old")).Want(404)
	d.versions = append(d.versions, v)
	d.define()
	d.there().Get("/apis/"+d.group+"/"+v).Want(200).Equal("resources.0.name", "crontabs")
	d.there().Post(d.list(v)+"?dryRun=All", d.object(v, "x", `{}`)).Want(201)
	d.versions = d.versions[:2]
	d.define()
	d.there().Get("/openapi/v3/apis/" + d.group + "/" + v).Want(404)
}

// defaulted gives a field a default.
func (d *changing) defaulted(n string) {
	before := d.v1
	d.v1 += `,"d":{"type":"string","default":"` + n + `"}`
	d.define()
	d.there().Get(d.path("v1", "old")).Want(200).Equal("spec.d", n)
	d.v1 = before
	d.define()
	d.there().Get(d.path("v1", "old")+"?resourceVersion="+d.here().Get(d.crdPath()).Object().RV()).Want(200).Equal("spec.d", "")
}

// stores changes the version that is stored.
func (d *changing) stores(n string) {
	d.stored = d.versions[1-slices.Index(d.versions, d.stored)]
	d.define()
	d.there().Post(d.list("v1"), d.with("s"+n, "known", 1)).Want(201)
	kv, err := d.s.Etcd(d.t).Get(d.t.Context(), d.storageKey("s"+n))
	if err != nil || len(kv.Kvs) != 1 || parse(d.t, string(kv.Kvs[0].Value)).Str("apiVersion") != d.group+"/"+d.stored {
		d.t.Errorf("not stored at %s: %v, %v", d.stored, kv, err)
	}
	d.there().Delete(d.path("v1", "s"+n)).Want(200)
}

// converts begins to convert, and ends it.
func (d *changing) converts(string) {
	for _, d.hooked = range []bool{true, false} {
		d.define()
		seen := len(d.hook.Reviews())
		for _, v := range d.versions { // at one of which it is stored
			d.there().Get(d.path(v, "old")).Want(200)
		}
		if asked := len(d.hook.Reviews()) > seen; asked != d.hooked {
			d.t.Errorf("the converter was asked: %v, with it in the definition: %v", asked, d.hooked)
		}
	}
}

// subresource serves the status and takes it away.
func (d *changing) subresource(string) {
	d.status = true
	d.define()
	d.there().Get(d.path("v1", "old") + "/status").Want(200)
	d.status = false
	d.define()
	d.there().Get(d.path("v1", "old") + "/status").Want(404)
}

// watched has a watcher see a field that was not there when its watch began.
func (d *changing) watched(n string) {
	before := d.v1
	query := "?watch=1&resourceVersion=" + d.there().Get(d.list("v1")).Want(200).Object().RV()
	w := d.there().Watch(d.list("v1") + query)
	d.v1 += `,"w` + n + `":{"type":"string"}`
	d.define()
	d.here().Post(d.list("v1"), d.with("w"+n, "w"+n, "x")).Want(201)
	for _, e := range w.End() { // it ends with the definition, and may have the event or not
		if e.Object.Str("spec.w"+n) != "x" {
			d.t.Errorf("a watch has %v", e)
		}
	}
	w = d.there().Watch(d.list("v1") + query)
	if e := w.Expect("ADDED", "w"+n); e.Object.Str("spec.w"+n) != "x" {
		d.t.Errorf("the next watch has %v", e.Object)
	}
	w.Close()
	d.v1 = before
	d.define()
	d.there().Delete(d.path("v1", "w"+n)).Want(200)
}

// unmade makes another definition, waits until it is established, uses it, and deletes it.
func (d *changing) unmade(n string) {
	group := fmt.Sprintf("u%s.%s", n, d.group)
	path, list := crdPath+"/things."+group, "/apis/"+group+"/v1/things"
	d.here().Post(crdPath, parse(d.t, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.`+group+`"},"spec":{"group":"`+group+`","scope":"Cluster",
	 "names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)).Want(201)
	d.here().Eventually(path, established)
	d.there().Get(list).Want(200)
	d.there().Post(list, parse(d.t, `{"apiVersion":"`+group+`/v1","kind":"Thing","metadata":{"name":"one"}}`)).Want(201)
	d.there().Delete(list + "/one").Want(200)
	d.here().Delete(path).Want(200)
	d.here().Eventually(path, func(r *harness.Reply) bool { return r.Code == 404 })
	d.there().Get(list).Want(404)
	d.there().Get("/apis/" + group).Want(404)
	if left, err := d.s.Etcd(d.t).Get(d.t.Context(), "/registry/"+group+"/", clientv3.WithPrefix()); err != nil || left.Count != 0 {
		d.t.Errorf("%v is left, %v", left, err)
	}
}

// established tells it of a definition.
func established(r *harness.Reply) bool {
	list, _ := r.Object().At("status.conditions").([]any)
	return slices.ContainsFunc(list, func(c any) bool {
		o := object(c.(map[string]any))
		return o.Str("type") == "Established" && o.Str("status") == "True"
	})
}
