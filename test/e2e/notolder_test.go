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

// serverWaits is how long a server waits for a revision, and a little less.
const serverWaits = 2500 * time.Millisecond

// ahead is a revision that the store reaches by a few more writes, of whomever.
func (c *cronTabs) ahead() string {
	return strconv.FormatInt(number(c.t, c.rv())+5, 10)
}

// reach writes until the store has reached a revision, and returns the object
// whose creation reached it. Others may have, shortly before.
func (c *cronTabs) reach(rv string) object {
	c.t.Helper()
	for {
		made := c.create("reach-" + unique())
		if number(c.t, made.RV()) >= number(c.t, rv) {
			return made
		}
	}
}

// waits sends a GET for a revision that is a few writes ahead, writes them, of which
// write is the first, and returns the revision, the object whose creation reached it,
// and the reply. It fails the test when that came before the revision was there. Others
// write to the same store, and a busy machine may take longer for the writes than a
// server waits for them: then it begins again.
func (c *cronTabs) waits(path string, write func() object) (rv string, last object, r *harness.Reply) {
	c.t.Helper()
	for {
		rv = c.ahead()
		replies, asked := make(chan *harness.Reply, 1), time.Now()
		go func() {
			r, err := c.api.Try("GET", path+"resourceVersion="+rv, nil)
			if err != nil {
				c.t.Error(err)
			}
			replies <- r
		}()
		select {
		case r := <-replies:
			if r == nil {
				c.t.FailNow()
			}
			if number(c.t, c.rv()) < number(c.t, rv) {
				c.t.Fatalf("answered before revision %s was there: %s", rv, r.Body)
			}
			continue // others reached it
		case <-time.After(notYet):
		}
		early := number(c.t, write().RV()) <= number(c.t, rv)
		last = c.reach(rv)
		late := time.Since(asked) > serverWaits
		if r = <-replies; r == nil {
			c.t.FailNow()
		}
		if early && (!late || r.Code != 504) {
			return rv, last, r
		}
	}
}

// TestNotOlderThan asks for a revision that is not there yet: the request is
// answered once it is, and shows it.
func TestNotOlderThan(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.create("one")
	for name, query := range map[string]string{
		"RV-L1 RV-07 a list":                              "",
		"RV-L6 a list with NotOlderThan":                  "resourceVersionMatch=NotOlderThan&",
		"RV-L7 a list with NotOlderThan and a page limit": "resourceVersionMatch=NotOlderThan&limit=500&",
	} {
		c.run(name+" waits for its revision", func(t *testing.T, c *cronTabs) {
			rv, last, r := c.waits(c.list("v1")+"?"+query, func() object { return c.create("first-" + unique()) })
			l := r.Want(200).Object()
			shows := r.Contains(`"`+last.Str("metadata.name")+`"`) || number(t, l.RV()) < number(t, last.RV())
			if number(t, l.RV()) < number(t, rv) || !shows {
				t.Errorf("asked for %s, got %s with %s, without what was made at %s", rv, l.RV(), l.Names(), last.RV())
			}
		})
	}
	c.run("RV-04 a get waits for its revision", func(t *testing.T, c *cronTabs) {
		port := 99
		_, _, r := c.waits(c.path("v1", "one")+"?", func() object { port++; return c.touch("one", strconv.Itoa(port)) })
		r.Want(200).Equal("spec.port", strconv.Itoa(port))
	})
	c.run("WATCH-12 a streaming list waits for its revision", func(t *testing.T, c *cronTabs) {
		rv := c.ahead()
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
			if number(t, e.Object.RV()) < number(t, rv) || number(t, e.Object.RV()) >= number(t, last.RV()) && !seen[last.Str("metadata.name")] || !seen["one"] {
				t.Errorf("the list ended at %s, asked for was %s; seen were %v", e.Object.RV(), rv, seen)
			}
			return
		}
	})
}
