package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

const streaming = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"

func TestWatches(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	start := c.rv()

	c.run("WATCH-01 events come as they occur, in chunks", func(t *testing.T, c *cronTabs) {
		w := c.watch("resourceVersion=" + start)
		if got := w.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %q", got)
		}
		if len(w.TransferEncoding) != 1 || w.TransferEncoding[0] != "chunked" {
			t.Errorf("Transfer-Encoding %q", w.TransferEncoding)
		}
		made := c.create("one")
		if e := w.Expect("ADDED", "one"); e.Object.RV() != made.RV() || e.Object.Str("spec") != made.Str("spec") {
			t.Errorf("event %v, created %v", e.Object, made)
		}
		changed := c.touch("one", "2")
		if e := w.Expect("MODIFIED", "one"); e.Object.RV() != changed.RV() {
			t.Errorf("event %s, changed to %s", e, changed.RV())
		}
		c.api.Delete(c.path("v1", "one")).Want(200)
		if e := w.Expect("DELETED", "one"); e.Object.RV() == changed.RV() || e.Object.Str("spec.port") != "2" {
			t.Errorf("event %s: %v", e, e.Object)
		}
	})
	c.run("WATCH-02 every change once, in order; a dry run is none", func(t *testing.T, c *cronTabs) {
		w := c.watch("resourceVersion=" + c.rv())
		held := c.object("v1", "two", `{}`)
		held.Set("metadata.finalizers", []any{"example.com/hold"})
		var want []string
		step := func(kind string, o object) { want = append(want, kind+" two@"+o.RV()) }
		step("ADDED", c.api.Post(c.list("v1"), held).Want(201).Object())
		c.api.Do("PATCH", c.path("v1", "two")+"?dryRun=All", `{"spec":{"port":"0"}}`, "Content-Type", "application/merge-patch+json").Want(200)
		o := c.touch("two", "1")
		step("MODIFIED", o)
		step("MODIFIED", c.api.Put(c.path("v1", "two"), o.Set("spec.port", "2")).Want(200).Object())
		step("MODIFIED", c.api.Merge(c.path("v1", "two")+"/status", `{"status":{"phase":"x"}}`).Want(200).Object())
		step("MODIFIED", c.api.Delete(c.path("v1", "two")).Want(200).Object())
		c.api.Merge(c.path("v1", "two"), `{"metadata":{"finalizers":[]}}`).Want(200)
		for _, s := range want {
			if e := w.Next(); e.String() != s {
				t.Errorf("event %s, want %s", e, s)
			}
		}
		w.Expect("DELETED", "two")
		c.create("three")
		w.Expect("ADDED", "three")
	})
	watchesScopes(c)
}

// watchesScopes shows what is watched, from where, and for how long.
func watchesScopes(c *cronTabs) {
	c.run("WATCH-03 every scope, in the version of the URL, with selectors", func(t *testing.T, c *cronTabs) {
		rv := c.rv()
		all := c.api.Watch(c.all("v1beta1") + "?watch=1&resourceVersion=" + rv)
		named := c.watch("fieldSelector=metadata.name%3Dthree-b&resourceVersion=" + rv)
		labelled := c.watch("labelSelector=app%3Dx&resourceVersion=" + rv)
		c.create("three-a")
		c.createLabelled("three-b", `{"app":"x"}`)
		if e := all.Expect("ADDED", "three-a"); e.Object.Str("apiVersion") != c.group+"/v1beta1" {
			t.Errorf("event at %s", e.Object.Str("apiVersion"))
		}
		all.Expect("ADDED", "three-b")
		named.Expect("ADDED", "three-b")
		labelled.Expect("ADDED", "three-b")
		// Leaving the selection looks like a deletion, entering it like a creation.
		c.api.Merge(c.path("v1", "three-b"), `{"metadata":{"labels":{"app":"y"}}}`).Want(200)
		labelled.Expect("DELETED", "three-b")
		c.api.Merge(c.path("v1", "three-b"), `{"metadata":{"labels":{"app":"x"}}}`).Want(200)
		labelled.Expect("ADDED", "three-b")
		maps := c.api.Watch(configMaps(c.ns) + "?watch=true")
		c.api.Post(configMaps(c.ns), configMap(t, c.ns, "watched", `{"a":"b"}`)).Want(201)
		if e := maps.Expect("ADDED", "watched"); e.Object.Str("kind") != "ConfigMap" || e.Object.Str("apiVersion") != "v1" {
			t.Errorf("event %v", e.Object)
		}
	})
	c.run("WATCH-04 resuming loses nothing", func(t *testing.T, c *cronTabs) {
		w := c.watch("resourceVersion=" + c.rv())
		c.create("four-a")
		rv := w.Expect("ADDED", "four-a").Object.RV()
		w.Close()
		c.create("four-b")
		c.touch("four-a", "4")
		w = c.watch("resourceVersion=" + rv)
		w.Expect("ADDED", "four-b")
		w.Expect("MODIFIED", "four-a")
	})
	c.run("WATCH-01 timeoutSeconds ends a watch cleanly", func(t *testing.T, c *cronTabs) {
		t.Parallel()
		begun := time.Now()
		if left := c.watch("timeoutSeconds=1&resourceVersion=" + c.rv()).End(); len(left) != 0 {
			t.Errorf("events %v", left)
		}
		if took := time.Since(begun); took < 900*time.Millisecond {
			t.Errorf("ended after %s", took)
		}
	})
	c.run("WATCH-10 sendInitialEvents needs NotOlderThan, and a watch", func(t *testing.T, c *cronTabs) {
		c.api.Get(c.list("v1")+"?watch=1&sendInitialEvents=true").WantStatus(422, "Invalid", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
		c.api.Get(c.list("v1")+"?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1").WantStatus(422, "Invalid")
		c.api.Get(c.list("v1")+"?sendInitialEvents=true").WantStatus(422, "Invalid", "sendInitialEvents is forbidden for list")
		c.api.Get(c.list("v1")+"?watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1").
			WantStatus(422, "Invalid", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
	})
}

func TestBookmarks(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	for i := range 3 {
		c.create(fmt.Sprintf("item-%d", i))
	}

	c.run("WATCH-07 no bookmark is early, and none comes unasked", func(t *testing.T, c *cronTabs) {
		t.Parallel()
		w := c.watch("allowWatchBookmarks=true&timeoutSeconds=10&resourceVersion=" + c.rv())
		made := c.create("six")
		events := w.End()
		if len(events) == 0 || events[0].Type != "ADDED" {
			t.Fatalf("events %v", events)
		}
		for _, e := range events[1:] {
			if e.Type != "BOOKMARK" {
				continue
			}
			if e.Object.Str("kind") != "CronTab" || e.Object.Str("apiVersion") != c.group+"/v1" || e.Object.Str("metadata.name") != "" || number(t, e.Object.RV()) < number(t, made.RV()) {
				t.Errorf("bookmark %v", e.Object)
			}
		}
		for _, e := range c.watch("timeoutSeconds=1&resourceVersion=" + made.RV()).End() {
			if e.Type == "BOOKMARK" {
				t.Error("a bookmark that was not asked for")
			}
		}
	})
	c.run("WATCH-08 WATCH-09 WATCH-11 streaming lists end with a marked bookmark", func(t *testing.T, c *cronTabs) {
		made := c.create("late")
		w := c.watch(streaming + "&allowWatchBookmarks=true")
		seen := map[string]bool{}
		for {
			e := w.Next()
			if e.Type == "BOOKMARK" {
				if e.Object.Str("metadata.annotations.k8s.io/initial-events-end") != "true" || e.Object.Str("kind") != "CronTab" || e.Object.Str("spec") != "" {
					t.Errorf("bookmark %v", e.Object)
				}
				if number(t, e.Object.RV()) < number(t, made.RV()) {
					t.Errorf("bookmark at %s, written at %s before", e.Object.RV(), made.RV())
				}
				break
			}
			if e.Type != "ADDED" {
				t.Errorf("event %s", e)
			}
			seen[e.Object.Str("metadata.name")] = true
		}
		for _, name := range []string{"item-0", "item-1", "item-2", "late"} {
			if !seen[name] {
				t.Errorf("%s was not sent, only %v", name, seen)
			}
		}
		c.create("live")
		for w.Next().Object.Str("metadata.name") != "live" {
		}
	})
	streamsLists(c)
}

// streamsLists shows streaming lists of all sorts.
func streamsLists(c *cronTabs) {
	c.run("WATCH-08 without bookmarks only the objects are sent", func(t *testing.T, c *cronTabs) {
		want := c.api.Get(c.list("v1")).Want(200).Object().Names()
		w := c.watch(streaming + "&timeoutSeconds=5")
		var names []string
		for _, e := range w.End() {
			if e.Type != "ADDED" {
				t.Errorf("event %s", e)
			}
			names = append(names, e.Object.Str("metadata.name"))
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("objects %q, want %q", got, want)
		}
	})
	c.run("WATCH-12 a streaming list waits for its revision", func(t *testing.T, c *cronTabs) {
		own := newCronTabs(t, c.s, nil)
		first := own.create("first")
		for _, rv := range []string{first.RV(), "0"} {
			w := own.watch(streaming + "&allowWatchBookmarks=true&resourceVersion=" + rv)
			w.Expect("ADDED", "first")
			if e := w.Expect("BOOKMARK", ""); number(t, e.Object.RV()) < number(t, first.RV()) {
				t.Errorf("bookmark at %s, want at least %s", e.Object.RV(), first.RV())
			}
		}
	})
	c.run("WATCH-08 streaming lists of built-in kinds", func(t *testing.T, c *cronTabs) {
		w := c.api.Watch(namespacePath + "?watch=1&allowWatchBookmarks=true&" + streaming)
		for {
			if e := w.Next(); e.Type == "BOOKMARK" {
				if e.Object.Str("kind") != "Namespace" || e.Object.Str("metadata.annotations.k8s.io/initial-events-end") != "true" {
					t.Errorf("bookmark %v", e.Object)
				}
				return
			}
		}
	})
}
