package e2e

import (
	"strconv"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

// notYet is how long a request that has to wait is watched for answering too
// early.
const notYet = 300 * time.Millisecond

// ahead is a revision that the store reaches by so many more writes.
func (c *cronTabs) ahead(writes int64) string {
	return strconv.FormatInt(number(c.t, c.rv())+writes, 10)
}

// reach writes until the store has reached a revision, and returns the name of
// the object whose creation reached it.
func (c *cronTabs) reach(rv string) string {
	c.t.Helper()
	for {
		name := "reach-" + unique()
		if number(c.t, c.create(name).RV()) >= number(c.t, rv) {
			return name
		}
	}
}

// ask sends a GET that has to wait, and fails the test when it does not.
func (c *cronTabs) ask(path string) <-chan *harness.Reply {
	c.t.Helper()
	replies := make(chan *harness.Reply, 1)
	go func() {
		r, err := c.api.Try("GET", path, nil)
		if err != nil {
			c.t.Error(err)
		}
		replies <- r
	}()
	select {
	case r := <-replies:
		c.t.Fatalf("answered before the revision was there: %s", r.Body)
	case <-time.After(notYet):
	}
	return replies
}

// TestNotOlderThan asks for a revision that is not there yet: the request is
// answered once it is, and shows it.
func TestNotOlderThan(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.create("one")
	for name, query := range map[string]string{
		"RV-L1 RV-07 a list":                              "",
		"RV-L6 a list with NotOlderThan":                  "&resourceVersionMatch=NotOlderThan",
		"RV-L7 a list with NotOlderThan and a page limit": "&resourceVersionMatch=NotOlderThan&limit=500",
	} {
		c.run(name+" waits for its revision", func(t *testing.T, c *cronTabs) {
			// Others write to the same store: far enough ahead not to be reached by them.
			rv := c.ahead(40)
			replies := c.ask(c.list("v1") + "?resourceVersion=" + rv + query)
			last := c.reach(rv)
			r := <-replies
			if l := r.Want(200).Object(); number(t, l.RV()) < number(t, rv) || !r.Contains(`"`+last+`"`) {
				t.Errorf("asked for %s, got %s with %s", rv, l.RV(), l.Names())
			}
		})
	}
	c.run("RV-04 a get waits for its revision", func(t *testing.T, c *cronTabs) {
		rv := c.ahead(40)
		replies := c.ask(c.path("v1", "one") + "?resourceVersion=" + rv)
		c.touch("one", "99")
		c.reach(rv)
		(<-replies).Want(200).Equal("spec.port", "99")
	})
	c.run("WATCH-12 a streaming list waits for its revision", func(t *testing.T, c *cronTabs) {
		rv := c.ahead(40)
		opened := make(chan *harness.Stream, 1)
		go func() { opened <- c.watch(streaming + "&allowWatchBookmarks=true&resourceVersion=" + rv) }()
		// A server may answer at once, as long as it does not end the list.
		<-time.After(notYet)
		last := c.reach(rv)
		w := <-opened
		seen := map[string]bool{}
		for {
			e := w.Next()
			if e.Type != "BOOKMARK" {
				seen[e.Object.Str("metadata.name")] = true
				continue
			}
			if number(t, e.Object.RV()) < number(t, rv) || !seen[last] || !seen["one"] {
				t.Errorf("the list ended at %s, asked for was %s; seen were %v", e.Object.RV(), rv, seen)
			}
			return
		}
	})
}
