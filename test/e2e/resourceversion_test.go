package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// number reads a resourceVersion, which only a test may do.
func number(t testing.TB, rv string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(rv, 10, 64)
	if err != nil {
		t.Fatalf("resourceVersion %q: %v", rv, err)
	}
	return n
}

// The outcomes of a list, in the words of the API documentation.
const (
	mostRecent   = "most recent"
	anyState     = "any"
	notOlderThan = "not older than"
	exact        = "exact"
	continuation = "continuation"
	invalid      = "invalid"
	badRequest   = "bad request"
)

// listTable is the documentation's table: match, paging, and the outcome for a
// resourceVersion that is unset, "0" and another.
var listTable = []struct {
	id, match, paging string
	outcomes          [3]string
}{
	{"RV-L1", "", "", [3]string{mostRecent, anyState, notOlderThan}},
	{"RV-L2", "", "limit", [3]string{mostRecent, anyState, exact}},
	{"RV-L3", "", "continue", [3]string{continuation, continuation, badRequest}},
	{"RV-L4", "Exact", "", [3]string{invalid, invalid, exact}},
	{"RV-L5", "Exact", "limit", [3]string{invalid, invalid, exact}},
	{"RV-L6", "NotOlderThan", "", [3]string{invalid, anyState, notOlderThan}},
	{"RV-L7", "NotOlderThan", "limit", [3]string{invalid, anyState, notOlderThan}},
}

func TestListTable(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	for i := range 3 {
		c.create(fmt.Sprintf("item-%d", i))
	}
	token := c.api.Get(c.list("v1") + "?limit=1").Want(200).Object().Str("metadata.continue")
	then := c.rv()
	last := c.create("item-9").RV()

	for _, row := range listTable {
		for i, rv := range []string{"", "0", then} {
			name := fmt.Sprintf("%s match %q, %s, resourceVersion %s", row.id, row.match, or(row.paging, "no limit"), or([]string{"", "0", "N"}[i], "unset"))
			c.run(name+": "+row.outcomes[i], func(t *testing.T, c *cronTabs) {
				query := "?resourceVersion=" + rv
				if row.match != "" {
					query += "&resourceVersionMatch=" + row.match
				}
				if row.paging != "" {
					query += "&limit=100"
				}
				if row.paging == "continue" {
					query += "&continue=" + token
				}
				checkList(t, c.api.Get(c.list("v1")+query), row.outcomes[i], then, last)
			})
		}
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// checkList holds a reply against an outcome: at revision then there were
// three objects, and a fourth, item-9, was made at revision last.
func checkList(t *testing.T, r *harness.Reply, outcome, then, last string) {
	t.Helper()
	switch outcome {
	case invalid:
		r.WantStatus(422, "Invalid", "resourceVersionMatch")
		return
	case badRequest:
		r.WantStatus(400, "BadRequest", "specifying resource version is not allowed when using continue")
		return
	}
	l := r.Want(200).Object()
	switch names := l.Names(); outcome {
	case mostRecent:
		if number(t, l.RV()) < number(t, last) || !strings.Contains(names, "item-9") {
			t.Errorf("at %s: %s", l.RV(), names)
		}
	case notOlderThan:
		if number(t, l.RV()) < number(t, then) {
			t.Errorf("at %s, want at least %s", l.RV(), then)
		}
	case exact:
		if l.RV() != then || names != "item-0 item-1 item-2" {
			t.Errorf("at %s, want %s: %s", l.RV(), then, names)
		}
	case continuation:
		if names != "item-1 item-2" {
			t.Errorf("the rest of the pages has %s", names)
		}
	}
}

func TestResourceVersions(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	first := c.create("one")

	c.run("RV-01 a value that is none is 400", func(t *testing.T, c *cronTabs) {
		for _, rv := range []string{"abc", "-1", "1.5", "99999999999999999999999"} {
			c.api.Get(c.list("v1")+"?resourceVersion="+rv).WantStatus(400, "BadRequest", "resource")
			code := 400
			if c.s.External { // kube-apiserver answers 500 here, with the same message
				code = 500
			}
			if r := c.api.Get(c.path("v1", "one") + "?resourceVersion=" + rv).Want(code); !r.Contains("nvalid") {
				t.Errorf("resourceVersion %s: %s", rv, r.Body)
			}
		}
	})
	c.run("RV-02 of an object and of a list", func(t *testing.T, c *cronTabs) {
		other := c.api.Post(configMaps(c.ns), configMap(t, c.ns, "bump", `{}`)).Want(201).Object()
		l := c.api.Get(c.list("v1")).Want(200).Equal("items.0.metadata.resourceVersion", first.RV()).Object()
		if number(t, l.RV()) < number(t, other.RV()) {
			t.Errorf("list at %s, written at %s", l.RV(), other.RV())
		}
	})
	c.run("RV-03 other match values are invalid", func(t *testing.T, c *cronTabs) {
		c.api.Get(c.list("v1")+"?resourceVersion=1&resourceVersionMatch=Newer").WantStatus(422, "Invalid", "resourceVersionMatch", "Newer")
	})
	c.run("RV-04 get", func(t *testing.T, c *cronTabs) {
		changed := c.touch("one", "4")
		for _, rv := range []string{"", changed.RV()} {
			c.api.Get(c.path("v1", "one")+"?resourceVersion="+rv).Want(200).Equal("spec.port", "4")
		}
		c.api.Get(c.path("v1", "one") + "?resourceVersion=0").Want(200)
	})
	c.run("RV-05 a list includes every write before it", func(t *testing.T, c *cronTabs) {
		for i := range 20 {
			made := c.create(fmt.Sprintf("seen-%d", i))
			l := c.api.Get(c.list("v1")).Want(200)
			if !l.Contains(`"`+made.Str("metadata.name")+`"`) || number(t, l.Object().RV()) < number(t, made.RV()) {
				t.Fatalf("the list at %s lacks %s, made at %s", l.Object().RV(), made.Str("metadata.name"), made.RV())
			}
		}
	})
	readsAtRevisions(c)
}

// readsAtRevisions shows reads of the past and of the future.
func readsAtRevisions(c *cronTabs) {
	c.run("RV-08 RV-09 exact and continued lists show the past", func(t *testing.T, c *cronTabs) {
		then := c.rv()
		c.api.Delete(c.path("v1", "seen-0")).Want(200)
		for _, paging := range []string{"", "&limit=100"} {
			if l := c.api.Get(c.list("v1") + "?resourceVersionMatch=Exact&resourceVersion=" + then + paging).Want(200); !l.Contains(`"seen-0"`) || l.Object().RV() != then {
				t.Errorf("at %s, not at %s, or without the deleted object", l.Object().RV(), then)
			}
		}
	})
	c.run("RV-10 match needs a resourceVersion", func(t *testing.T, c *cronTabs) {
		c.api.Get(c.list("v1")+"?resourceVersionMatch=NotOlderThan").WantStatus(422, "Invalid", "resourceVersionMatch is forbidden unless resourceVersion is provided")
		c.api.Get(c.list("v1")+"?resourceVersionMatch=Exact&resourceVersion=0").WantStatus(422, "Invalid", `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
	})
	c.run("RV-11 RV-12 a watch without a revision starts with what exists", func(t *testing.T, c *cronTabs) {
		for _, query := range []string{"", "resourceVersion=0"} {
			w := c.watch("fieldSelector=metadata.name%3Done&" + query)
			w.Expect("ADDED", "one")
			c.touch("one", "11"+query)
			w.Expect("MODIFIED", "one")
		}
	})
	c.run("RV-13 a watch from a revision starts with what follows", func(t *testing.T, c *cronTabs) {
		w := c.watch("resourceVersion=" + c.rv())
		c.create("thirteen")
		w.Expect("ADDED", "thirteen")
	})
	c.run("RV-15 a revision in the future is 504", func(t *testing.T, c *cronTabs) {
		t.Parallel()
		future := "?resourceVersion=" + strconv.FormatInt(number(t, c.rv())+1e9, 10)
		for _, path := range []string{c.list("v1"), c.path("v1", "one")} {
			c.api.Get(path+future).WantStatus(504, "Timeout", "Too large resource version").
				Equal("details.causes.0.reason", "ResourceVersionTooLarge").Equal("details.retryAfterSeconds", "1")
		}
	})
	c.run("RV-16 a watch in the future stays open", func(t *testing.T, c *cronTabs) {
		t.Parallel()
		future := strconv.FormatInt(number(t, c.rv())+1e9, 10)
		for _, e := range c.watch("timeoutSeconds=1&resourceVersion=" + future).End() {
			t.Errorf("event %s: %v", e, e.Object)
		}
	})
}
