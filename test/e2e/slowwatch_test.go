package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestSlowWatcher has clients that do not read, and one that does: they are not waited
// for, and have missed nothing when they read again.
func TestSlowWatcher(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.run("WATCH-02 a client that does not read holds up nobody", func(t *testing.T, c *cronTabs) {
		c.create("one")
		rv := c.rv()
		c.api.Stall(c.list("v1") + "?watch=1&resourceVersion=" + rv)
		whole := c.api.Stall(c.list("v1") + "?watch=1&resourceVersion=" + rv)
		streamed := c.api.Stall(c.list("v1") + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan")
		selected := c.api.Stall(c.list("v1") + "?watch=1&fieldSelector=metadata.name%3Done&resourceVersion=" + rv)
		w := c.watch("resourceVersion=" + rv)
		// More than all buffers on the way hold.
		large := strings.Repeat("x", 100<<10)
		for i := range 150 {
			c.api.Merge(c.path("v1", "one"), fmt.Sprintf(`{"spec":{"port":"%d","host":"%s"}}`, i, large)).Want(200)
			if e := w.Expect("MODIFIED", "one"); e.Object.Str("spec.port") != fmt.Sprint(i) {
				t.Fatalf("event %d has port %s", i, e.Object.Str("spec.port"))
			}
		}
		for _, read := range []func() *harness.Stream{whole, streamed, selected} {
			w := read()
			e := w.Next()
			if e.Type == "ADDED" {
				w.Expect("BOOKMARK", "")
				e = w.Next()
			}
			for i := range 150 {
				if e.Type != "MODIFIED" || e.Object.Str("spec.port") != fmt.Sprint(i) {
					t.Fatalf("event %d is %s with port %s", i, e, e.Object.Str("spec.port"))
				}
				if i < 149 {
					e = w.Next()
				}
			}
		}
	})
}

// TestHistory changes an object more often, and by more bytes, than a cache
// keeps, and then watches from before that.
func TestHistory(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.run("WATCH-05 what happened a moment ago can be watched, however much it was", func(t *testing.T, c *cronTabs) {
		c.create("one")
		rv := c.rv()
		large := strings.Repeat("x", 100<<10)
		const changes = 500 // 50 MB
		for i := range changes {
			c.api.Merge(c.path("v1", "one"), fmt.Sprintf(`{"spec":{"port":"%d","host":"%s"}}`, i, large)).Want(200)
		}
		w := c.watch("resourceVersion=" + rv)
		for i := range changes {
			if e := w.Expect("MODIFIED", "one"); e.Object.Str("spec.port") != fmt.Sprint(i) {
				t.Fatalf("event %d has port %s", i, e.Object.Str("spec.port"))
			}
		}
		c.create("two")
		w.Expect("ADDED", "two")
	})
}

// TestDepartedWatcher counts open watches by the server's own metric.
func TestDepartedWatcher(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.run("WATCH-01 a client that leaves is noticed", func(t *testing.T, c *cronTabs) {
		var all []*harness.Stream
		for range 5 {
			all = append(all, c.watch(""))
		}
		c.api.Eventually("/metrics", func(r *harness.Reply) bool { return openWatches(r, c.group) == "5" })
		for _, w := range all {
			w.Close()
		}
		c.api.Eventually("/metrics", func(r *harness.Reply) bool {
			n := openWatches(r, c.group)
			return n == "0" || n == ""
		})
	})
}

var longRunning = regexp.MustCompile(`(?m)^apiserver_longrunning_requests\{([^}]*)\} ([0-9]+)$`)

// openWatches is the number of a group's watches that the server has open.
func openWatches(metrics *harness.Reply, group string) string {
	for _, m := range longRunning.FindAllStringSubmatch(string(metrics.Body), -1) {
		if strings.Contains(m[1], `group="`+group+`"`) && strings.Contains(m[1], `verb="WATCH"`) {
			return m[2]
		}
	}
	return ""
}
