package e2e

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

func TestLists(t *testing.T) {
	s := harness.Shared(t)
	c := newCronTabs(t, s, nil)
	for i := range 7 {
		c.createLabelled(fmt.Sprintf("item-%d", i), `{"parity":"`+strconv.Itoa(i%2)+`"}`)
	}

	c.run("LIST-01 LIST-02 collections", func(t *testing.T, c *cronTabs) {
		l := c.api.Get(c.list("v1")).Want(200).Equal("kind", "CronTabList").Equal("apiVersion", c.group+"/v1").Object()
		if l.RV() == "" || l.Names() != "item-0 item-1 item-2 item-3 item-4 item-5 item-6" {
			t.Errorf("resourceVersion %q, items %q", l.RV(), l.Names())
		}
		for _, i := range l.Items() {
			if i.Str("kind") != "CronTab" || i.Str("apiVersion") != c.group+"/v1" {
				t.Errorf("item %v", i)
			}
		}
		c.api.Get(configMaps(c.ns)).Want(200).Equal("kind", "ConfigMapList").Equal("items.0.kind", "")
		c.api.Get(c.list("v1")+"?labelSelector=parity%3D9").Want(200).Equal("items", "[]")
	})
	c.run("LIST-03 LIST-04 pages", func(t *testing.T, c *cronTabs) {
		first := c.api.Get(c.list("v1")+"?limit=3").Want(200).Equal("metadata.remainingItemCount", "4").Object()
		if first.Names() != "item-0 item-1 item-2" || first.Str("metadata.continue") == "" {
			t.Fatalf("page 1: %q", first.Names())
		}
		second := next(c.api, c.list("v1")+"?limit=3", first).Want(200).Equal("metadata.remainingItemCount", "1").Object()
		if second.Names() != "item-3 item-4 item-5" {
			t.Errorf("page 2: %q", second.Names())
		}
		third := next(c.api, c.list("v1")+"?limit=3", second).Want(200).Equal("metadata.remainingItemCount", "").Equal("metadata.continue", "").Object()
		if third.Names() != "item-6" {
			t.Errorf("page 3: %q", third.Names())
		}
		c.api.Get(c.list("v1")+"?limit=7").Want(200).Equal("metadata.continue", "").Equal("metadata.remainingItemCount", "")
	})
	continuesAndSelects(c)
}

// continuesAndSelects shows further pages, and selectors.
func continuesAndSelects(c *cronTabs) {
	c.run("LIST-05 pages are of one revision", func(t *testing.T, c *cronTabs) {
		own := newCronTabs(t, c.s, nil)
		for i := range 4 {
			own.create(fmt.Sprintf("item-%d", i))
		}
		first := own.api.Get(own.list("v1") + "?limit=2").Want(200).Object()
		own.create("item-9")
		own.touch("item-3", "99")
		own.api.Delete(own.path("v1", "item-2")).Want(200)
		second := next(own.api, own.list("v1")+"?limit=2", first).Want(200).Equal("items.1.spec.port", "80").Object()
		if second.Names() != "item-2 item-3" || second.RV() != first.RV() {
			t.Errorf("page 2 has %q at %s, page 1 was at %s", second.Names(), second.RV(), first.RV())
		}
		w := own.watch("resourceVersion=" + first.RV())
		w.Expect("ADDED", "item-9")
		w.Expect("MODIFIED", "item-3")
		w.Expect("DELETED", "item-2")
	})
	c.run("LIST-06 a garbage token is 400", func(t *testing.T, c *cronTabs) {
		for _, token := range []string{"abc", "%7B%7D", base64.RawURLEncoding.EncodeToString([]byte(`{"v":"meta.k8s.io/v1","rv":5,"start":"../../secrets/"}`))} {
			c.api.Get(c.list("v1")+"?limit=3&continue="+token).WantStatus(400, "BadRequest", "continue")
		}
	})
	c.run("LIST-07 no count with a selector", func(t *testing.T, c *cronTabs) {
		page := c.api.Get(c.list("v1")+"?limit=2&labelSelector=parity%3D0").Want(200).Equal("metadata.remainingItemCount", "").Object()
		if page.Names() != "item-0 item-2" || page.Str("metadata.continue") == "" {
			t.Errorf("page %q", page.Names())
		}
		if rest := next(c.api, c.list("v1")+"?limit=2&labelSelector=parity%3D0", page).Want(200).Object(); rest.Names() != "item-4 item-6" || rest.Str("metadata.continue") != "" {
			t.Errorf("page %q, continue %q", rest.Names(), rest.Str("metadata.continue"))
		}
		c.api.Get(c.list("v1")).Want(200).Equal("metadata.remainingItemCount", "")
	})
	c.run("LIST-07 selectors", func(t *testing.T, c *cronTabs) {
		for query, want := range map[string]string{
			"labelSelector=parity+in+(1),parity":                           "item-1 item-3 item-5",
			"labelSelector=parity%21%3D1":                                  "item-0 item-2 item-4 item-6",
			"labelSelector=%21parity":                                      "",
			"fieldSelector=metadata.name%3Ditem-4":                         "item-4",
			"fieldSelector=metadata.namespace%3D" + c.ns + "&limit=1":      "item-0",
			"fieldSelector=metadata.name%21%3Ditem-4&labelSelector=":       "item-0 item-1 item-2 item-3 item-5 item-6",
			"fieldSelector=metadata.name%3Dx,metadata.namespace%3D" + c.ns: "",
		} {
			if got := c.api.Get(c.list("v1") + "?" + query).Want(200).Object().Names(); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		c.api.Get(c.list("v1")+"?labelSelector=%3D%3D").WantStatus(400, "BadRequest", "found '=='")
		c.api.Get(c.list("v1")+"?fieldSelector=spec.host%3Da").WantStatus(400, "BadRequest", "field label not supported: spec.host")
	})
}

// next reads the page after page.
func next(api *harness.API, path string, page object) *harness.Reply {
	return api.Get(path + "&continue=" + page.Str("metadata.continue"))
}

// TestExpired loses history twice: etcd compacts it, and the restart empties
// the gateway's own memory of it.
func TestExpired(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	c := newCronTabs(t, &g.Server, nil)
	for i := range 4 {
		c.create(fmt.Sprintf("item-%d", i))
	}
	page := c.api.Get(c.list("v1") + "?limit=2").Want(200).Object()
	for i := range 5 {
		c.touch("item-1", strconv.Itoa(i))
	}
	g.Compact(t)
	g.Terminate(t)
	g.Restart(t)
	c.awaitServed("v1")

	c.run("LIST-06 an expired token is 410", func(t *testing.T, c *cronTabs) {
		next(c.api, c.list("v1")+"?limit=2", page).WantStatus(410, "Expired")
	})
	c.run("RV-08 an exact list of a compacted revision is 410", func(t *testing.T, c *cronTabs) {
		c.api.Get(c.list("v1")+"?resourceVersionMatch=Exact&resourceVersion="+page.RV()).WantStatus(410, "Expired")
	})
	c.run("WATCH-05 RV-14 a watch of a compacted revision is 410", func(t *testing.T, c *cronTabs) {
		r, err := c.api.Try("GET", c.list("v1")+"?watch=1&timeoutSeconds=5&resourceVersion="+page.RV(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Code == 410 {
			r.WantStatus(410, "Expired")
			return
		}
		r.Want(200).Equal("type", "ERROR").Equal("object.code", "410").Equal("object.reason", "Expired")
	})
	c.run("LIST-06 a list without a token works", func(t *testing.T, c *cronTabs) {
		if got := len(c.api.Get(c.list("v1")).Want(200).Object().Items()); got != 4 {
			t.Errorf("%d items", got)
		}
	})
}
