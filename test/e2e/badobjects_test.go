package e2e

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	// sickObjects are those of a kind of which badObjects do not convert.
	sickObjects = 5000
	badObjects  = 7
)

// sick are CronTabs with a converter that says Failed to what it cannot convert, and
// that can die.
type sick struct {
	*cronTabs
	dead atomic.Bool
}

func newSick(t *testing.T, s *harness.Server) *sick {
	hook := harness.NewWebhook(t)
	c := &sick{cronTabs: newWebhookCronTabs(t, s, hook)}
	hook.Inject(func(w http.ResponseWriter, request, reply object) bool {
		if c.dead.Load() {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return false
		}
		for _, o := range request.At("request.objects").([]any) {
			if o := object(o.(map[string]any)); o.Str("hostPort") == "bad" {
				reply.Set("response.result", map[string]any{"status": "Failed", "message": o.Str("metadata.name") + " has no port"})
			}
		}
		return true
	})
	return c
}

// bad creates an object that does not convert to v1.
func (c *sick) bad(name string) {
	c.t.Helper()
	c.api.Post(c.list("v1beta1"), object{"apiVersion": c.group + "/v1beta1", "kind": "CronTab", "hostPort": "bad",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"replicas": 0}}).Want(201)
}

// told runs the command of docs/conversion.md that begins so.
func (c *sick) told(begins string) {
	c.t.Helper()
	doc, err := os.ReadFile("../../docs/conversion.md")
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(doc)) {
		if strings.HasPrefix(line, begins) {
			line = strings.ReplaceAll(line, "crontabs.example.com", "crontabs."+c.group)
			c.s.Kubectl(c.t).Must(strings.Fields(line)[1:]...)
			return
		}
	}
	c.t.Fatalf("no command in the document begins with %q", begins)
}

// missing are the warnings of a reply about what it leaves out.
func missing(t *testing.T, r *harness.Reply) []string {
	t.Helper()
	warnings := r.Header.Values("Warning")
	return slices.DeleteFunc(warnings, func(w string) bool { return !strings.Contains(w, "bad-") })
}

// TestBadObjectsCostOnlyThemselves_CRD18 has a kind of 5,000 objects of which 7 do not
// convert, and then a converter that is dead.
func TestBadObjectsCostOnlyThemselves_CRD18(t *testing.T) {
	harness.SkipExternal(t)
	s := harness.Shared(t)
	c := newSick(t, s)
	createMany(t, &spread{c.cronTabs, []string{c.ns}}, sickObjects-badObjects)
	for i := range badObjects {
		c.bad(fmt.Sprintf("bad-%d", i))
	}
	t.Run("lists fail where the definition says nothing", func(t *testing.T) {
		s.API(t).Get(c.list("v1")).WantStatus(500, "", "has no port")
	})
	c.told("kubectl annotate crd")
	c.api.Eventually(c.list("v1"), func(r *harness.Reply) bool { return r.Code == 200 })
	listsTheRest(t, c)
	watchesTheRest(t, c)
	c.dead.Store(true)
	listsTheRest(t, c)
	c.dead.Store(false)

	c.updateDefinition(c.crdPath(), func(crd object) { storeAt(crd, "v1") }).Want(200)
	c.api.Eventually(c.crdPath(), func(r *harness.Reply) bool { return strings.Contains(string(r.Body), `"v1beta1","v1"`) })
	migratesTheRest(t, c)
	for i, dead := range []bool{false, true} {
		c.dead.Store(dead)
		t.Run(fmt.Sprintf("with a dead converter: %v", dead), func(t *testing.T) {
			writesBadOnes(t, c, 3*i)
			c.dead.Store(false)
			repairs(t, c, 3*i+2)
		})
	}
	c.dead.Store(true)
	endsWithBadOnes(t, c)
}

// listsTheRest shows what a list, its pages, metadata and an informer have.
func listsTheRest(t *testing.T, c *sick) {
	t.Helper()
	api, left := c.s.API(t), sickObjects-badObjects
	r := api.Get(c.list("v1")).Want(200)
	if n := len(r.Object().Items()); n != left {
		t.Errorf("a list has %d objects", n)
	}
	told := missing(t, r)
	if len(told) != 1+badObjects || !strings.Contains(told[0], "7 crontabs."+c.group+" cannot be converted to v1 and are left out: "+c.ns+"/bad-0, ") ||
		!strings.Contains(told[0], "/bad-6") || !strings.Contains(told[7], "bad-6 has no port") {
		t.Errorf("missing are %q", told)
	}
	n, named := 0, 0
	for token := "?limit=700"; token != ""; {
		r := api.Get(c.list("v1") + token).Want(200)
		n, named = n+len(r.Object().Items()), named+max(0, len(missing(t, r))-1)
		if token = r.Str("metadata.continue"); token != "" {
			token = "?limit=700&continue=" + token
		}
	}
	if n != left || named != badObjects {
		t.Errorf("pages have %d objects and name %d", n, named)
	}
	if r := api.Get(c.list("v1"), "Accept", metaList).Want(200); len(r.Object().Items()) != sickObjects || len(missing(t, r)) != 0 {
		t.Errorf("a list of metadata lacks some: %q", missing(t, r))
	}
	client, err := dynamic.NewForConfig(c.s.Config())
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	f := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, c.ns, nil)
	informer := f.ForResource(schema.GroupVersionResource{Group: c.group, Version: "v1", Resource: "crontabs"}).Informer()
	f.Start(stop)
	defer f.Shutdown()
	defer close(stop)
	if !harness.Poll(30*time.Second, informer.HasSynced) || len(informer.GetStore().List()) != left {
		t.Errorf("an informer has %d objects", len(informer.GetStore().List()))
	}
}

// watchesTheRest shows that what no longer converts is deleted for a watch, and what
// converts again is added.
func watchesTheRest(t *testing.T, c *sick) {
	api := c.s.API(t)
	w := api.Watch(c.list("v1") + "?watch=1&resourceVersion=" + api.Get(c.list("v1")+"?limit=1").Want(200).Object().RV())
	api.Merge(c.path("v1beta1", "bad-0"), `{"spec":{"replicas":1}}`).Want(200)
	api.Merge(c.path("v1beta1", "item-0"), `{"hostPort":"bad"}`).Want(200)
	if e := w.Expect("DELETED", "item-0"); e.Object.Str("apiVersion") != c.group+"/v1" {
		t.Errorf("deleted as %v", e.Object)
	}
	api.Merge(c.path("v1beta1", "item-0"), `{"hostPort":"good:1"}`).Want(200)
	if e := w.Expect("ADDED", "item-0"); e.Object.Str("host") != "good" {
		t.Errorf("added as %v", e.Object)
	}
	api.Merge(c.path("v1beta1", "item-0"), `{"hostPort":"good:2"}`).Want(200)
	w.Expect("MODIFIED", "item-0")
}

// migratesTheRest shows that a migration goes through all, and names the bad ones.
func migratesTheRest(t *testing.T, c *sick) {
	api := c.s.API(t)
	path := migrationPath + "/sick-" + c.group
	api.Post(migrationPath, object{"apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration",
		"metadata": map[string]any{"name": "sick-" + c.group},
		"spec":     map[string]any{"resource": map[string]any{"group": c.group, "resource": "crontabs"}}}).Want(201)
	failed := awaitCondition(api, path, "Failed", "True")
	if m := failed.Str("message"); !strings.Contains(m, "7 of 5000 objects could not be rewritten") || !strings.Contains(m, "bad-6") {
		t.Errorf("the migration says %q", m)
	}
	at := storedVersions(t, c.s.Etcd(t), "/registry/"+c.group+"/crontabs/")
	if at[c.group+"/v1"] != sickObjects-badObjects || at[c.group+"/v1beta1"] != badObjects {
		t.Errorf("stored are %v", at)
	}
}

// writesBadOnes writes three bad objects from a number on, which are stored at a version
// that objects are no longer stored at: they stay at it, and nothing is lost.
func writesBadOnes(t *testing.T, c *sick, from int) {
	api := c.s.API(t)
	path := func(i int) string { return c.path("v1beta1", "bad-"+strconv.Itoa(from+i)) }
	const apply = "application/apply-patch+yaml"
	api.Get(path(0)).Want(200).Equal("hostPort", "bad")
	api.Merge(path(0), `{"metadata":{"labels":{"a":"b"},"finalizers":["example.com/held"]}}`).Want(200).Equal("hostPort", "bad")
	api.Do("PATCH", path(0)+"/status", object{"status": map[string]any{"phase": "Sick"}}, "Content-Type", "application/merge-patch+json").
		Want(200).Equal("status.phase", "Sick")
	api.Do("PATCH", path(0)+"?fieldManager=me", object{"apiVersion": c.group + "/v1beta1", "kind": "CronTab",
		"metadata": map[string]any{"annotations": map[string]any{"x": "y"}}}, "Content-Type", apply).Want(200).Equal("metadata.annotations.x", "y")
	o := api.Get(path(0)).Want(200).Equal("metadata.labels.a", "b").Equal("status.phase", "Sick").Object()
	api.Put(path(0), o.Set("spec.replicas", 5)).Want(200).Equal("spec.replicas", "5")
	if at := stored(t, c.s.Etcd(t), c.storageKey("bad-"+strconv.Itoa(from))); at.Str("apiVersion") != c.group+"/v1beta1" || at.Str("hostPort") != "bad" {
		t.Errorf("stored is %v", at)
	}
	api.Delete(path(0)).Want(200)
	api.Get(path(0)).Want(200).Equal("metadata.finalizers.0", "example.com/held")
	api.Merge(path(0), `{"metadata":{"finalizers":null}}`).Want(200)
	api.Get(path(0)).Want(404)

	owner := api.Post(configMaps(c.ns), configMap(t, c.ns, "owner-"+strconv.Itoa(from), `{}`)).Want(201).Object()
	api.Do("PATCH", path(1), object{"metadata": map[string]any{"ownerReferences": []any{map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "name": owner.Str("metadata.name"), "uid": owner.Str("metadata.uid")}}}},
		"Content-Type", "application/merge-patch+json").Want(200)
	api.Delete(configMaps(c.ns) + "/" + owner.Str("metadata.name")).Want(200)
	api.Eventually(path(1), func(r *harness.Reply) bool { return r.Code == 404 })
}

// repairs mends a bad object at the version that it is stored at, after which it is
// like any other.
func repairs(t *testing.T, c *sick, n int) {
	api, name := c.s.API(t), "bad-"+strconv.Itoa(n)
	api.Merge(c.path("v1beta1", name), `{"hostPort":"mended:1"}`).Want(200)
	if at := stored(t, c.s.Etcd(t), c.storageKey(name)); at.Str("apiVersion") != c.group+"/v1" {
		t.Errorf("stored is %v", at)
	}
	api.Get(c.path("v1", name)).Want(200).Equal("host", "mended")
	api.Merge(c.path("v1beta1", name), `{"hostPort":"bad"}`).WantStatus(500, "", "has no port")
}

// endsWithBadOnes deletes the namespace, in which an object has a finalizer, and the
// definition.
func endsWithBadOnes(t *testing.T, c *sick) {
	api := c.s.API(t)
	held := c.path("v1beta1", "bad-6")
	api.Merge(held, `{"metadata":{"finalizers":["example.com/held"]}}`).Want(200)
	api.Delete("/api/v1/namespaces/" + c.ns).Want(200)
	api.Eventually(c.list("v1beta1"), func(r *harness.Reply) bool { return r.Code == 200 && r.Object().Names() == "bad-6" })
	api.Merge(held, `{"metadata":{"finalizers":null}}`).Want(200)
	api.Eventually("/api/v1/namespaces/"+c.ns, func(r *harness.Reply) bool { return r.Code == 404 })
	api.Delete(c.crdPath()).Want(200)
	api.Eventually(c.crdPath(), func(r *harness.Reply) bool { return r.Code == 404 })
}
