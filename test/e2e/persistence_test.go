package e2e

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

func TestPersistence(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	etcd := c.s.Etcd(t)
	ctx := context.Background()

	c.run("PER-01 state is in etcd, as serialized resources", func(t *testing.T, c *cronTabs) {
		made := c.create("one")
		kept := stored(t, etcd, c.storageKey("one"))
		if fmt.Sprint(kept.revision) != made.RV() || kept.Str("metadata.uid") != made.Str("metadata.uid") || kept.Str("spec") != made.Str("spec") || kept.Str("apiVersion") != c.group+"/v1" {
			t.Errorf("made %v, stored %v", made, kept)
		}
		if kept.RV() != "" {
			t.Errorf("the resourceVersion is stored: %s", kept.RV())
		}
	})
	c.run("PER-02 stored bytes say what they are", func(t *testing.T, c *cronTabs) {
		c.api.Post(configMaps(c.ns), configMap(t, c.ns, "one", `{"a":"b"}`)).Want(201)
		key := "/registry/configmaps/" + c.ns + "/"
		got, err := etcd.Get(ctx, key+"one")
		if err != nil || len(got.Kvs) != 1 || !bytes.HasPrefix(got.Kvs[0].Value, []byte("k8s\x00")) {
			t.Fatalf("stored: %v %v", got, err)
		}
		json := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"two","namespace":"` + c.ns + `","uid":"6b9c8d3e-0000-4000-8000-000000000000","creationTimestamp":"2024-01-01T00:00:00Z"},"data":{"stored":"as JSON"}}`
		if _, err := etcd.Put(ctx, key+"two", json); err != nil {
			t.Fatal(err)
		}
		c.api.Eventually(configMaps(c.ns)+"/two", func(r *harness.Reply) bool { return r.Code == 200 })
		c.api.Get(configMaps(c.ns)+"/two").Want(200).Equal("data.stored", "as JSON").Equal("metadata.uid", "6b9c8d3e-0000-4000-8000-000000000000")
		if got := c.api.Get(configMaps(c.ns)).Want(200); !got.Contains(`"one"`) || !got.Contains(`"two"`) {
			t.Errorf("list: %s", got.Body)
		}
		// An object at a version that is served but not stored any more.
		old := `{"apiVersion":"` + c.group + `/v1beta1","kind":"CronTab","metadata":{"name":"old","namespace":"` + c.ns + `","uid":"6b9c8d3e-0000-4000-8000-000000000001","creationTimestamp":"2024-01-01T00:00:00Z"},"spec":{"hostPort":"a:1"}}`
		if _, err := etcd.Put(ctx, c.storageKey("old"), old); err != nil {
			t.Fatal(err)
		}
		c.api.Eventually(c.path("v1", "old"), func(r *harness.Reply) bool { return r.Code == 200 })
		c.api.Get(c.path("v1", "old")).Want(200).Equal("apiVersion", c.group+"/v1").Equal("spec.hostPort", "a:1").Equal("spec.suspend", "false")
	})
}

func TestRestart(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	t.Run("PER-01 a restart changes nothing", func(t *testing.T) {
		g := harness.Start(t, harness.Options{})
		c := newCronTabs(t, &g.Server, nil)
		for i := range 5 {
			c.create(fmt.Sprintf("item-%d", i))
		}
		c.touch("item-2", "2")
		c.api.Post(configMaps(c.ns), configMap(t, c.ns, "one", `{"a":"b"}`)).Want(201)
		paths := []string{c.list("v1"), c.list("v1beta1"), configMaps(c.ns), c.crdPath()}
		var before []string
		for _, p := range paths {
			before = append(before, withoutListRevision(c.api.Get(p).Want(200)))
		}
		g.Terminate(t)
		g.Restart(t)
		c.awaitServed("v1")
		for i, p := range paths {
			if after := withoutListRevision(c.api.Get(p).Want(200)); after != before[i] {
				t.Errorf("%s was\n%s\nand is\n%s", p, before[i], after)
			}
		}
	})
}

// TestResumeAfterRestart opens a watch where another ended, with a restart in
// between that emptied the gateway's memory of events.
func TestResumeAfterRestart(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	g := harness.Start(t, harness.Options{})
	c := newCronTabs(t, &g.Server, nil)
	c.create("one")
	w := c.watch("")
	last := w.Expect("ADDED", "one").Object
	c.touch("one", "1")
	c.create("two")
	c.touch("one", "2")
	c.api.Delete(c.path("v1", "two")).Want(200)
	g.Kill(t)
	g.Restart(t)
	c.run("WATCH-04 the changes that were not delivered are", func(t *testing.T, c *cronTabs) {
		c.awaitServed("v1")
		w := c.api.Watch(c.list("v1beta1") + "?watch=1&allowWatchBookmarks=true&resourceVersion=" + last.RV())
		w.Expect("MODIFIED", "one")
		w.Expect("ADDED", "two")
		w.Expect("MODIFIED", "one")
		w.Expect("DELETED", "two")
		c.create("three")
		w.Expect("ADDED", "three")
	})
	c.run("WATCH-04 a watch from the last change sees what follows", func(t *testing.T, c *cronTabs) {
		w := c.watch("resourceVersion=" + c.rv())
		c.create("four")
		w.Expect("ADDED", "four")
	})
}

// withoutListRevision prints a reply without the revision of a list, which
// moves with every write in the store.
func withoutListRevision(r *harness.Reply) string {
	o := r.Object()
	if o["items"] != nil {
		delete(o, "metadata")
	}
	return o.Str("")
}
