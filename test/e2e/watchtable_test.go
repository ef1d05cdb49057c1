package e2e

import (
	"fmt"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// What a watch may begin with.
const (
	existing       = "what exists"
	existingMarked = "what exists, and a bookmark at its end"
	following      = "what follows"
	forbidden      = "nothing: it is refused"
)

// watchTable is what a watch begins with, by sendInitialEvents and
// resourceVersionMatch, for a resourceVersion that is unset, "0" and another.
var watchTable = []struct {
	ids, initial, match string
	outcomes            [3]string
}{
	{"RV-11 RV-12 RV-13", "", "", [3]string{existing, existing, following}},
	{"WATCH-10", "", "NotOlderThan", [3]string{forbidden, forbidden, forbidden}},
	{"WATCH-10", "", "Exact", [3]string{forbidden, forbidden, forbidden}},
	{"WATCH-10", "true", "", [3]string{forbidden, forbidden, forbidden}},
	{"WATCH-08 WATCH-11 WATCH-12", "true", "NotOlderThan", [3]string{existingMarked, existingMarked, existingMarked}},
	{"WATCH-10", "true", "Exact", [3]string{forbidden, forbidden, forbidden}},
	{"WATCH-10", "false", "", [3]string{forbidden, forbidden, forbidden}},
	{"WATCH-08", "false", "NotOlderThan", [3]string{following, following, following}},
	{"WATCH-10", "false", "Exact", [3]string{forbidden, forbidden, forbidden}},
	{"RV-03", "", "Newer", [3]string{forbidden, forbidden, forbidden}},
	{"RV-03", "true", "Newer", [3]string{forbidden, forbidden, forbidden}},
}

func TestWatchTable(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.create("first")
	c.create("second")
	then := c.rv()
	n := 0
	for _, row := range watchTable {
		for i, rv := range []string{"", "0", then} {
			c.run(fmt.Sprintf("%s sendInitialEvents %q, match %q, resourceVersion %s: %s", row.ids, row.initial, row.match, []string{"unset", "0", "N"}[i], row.outcomes[i]), func(t *testing.T, c *cronTabs) {
				// What comes after the revision was taken is of another name.
				query := "fieldSelector=metadata.name%3Dfirst"
				if row.outcomes[i] != existing {
					query = ""
				}
				query += "&allowWatchBookmarks=true&resourceVersion=" + rv
				if row.initial != "" {
					query += "&sendInitialEvents=" + row.initial
				}
				if row.match != "" {
					query += "&resourceVersionMatch=" + row.match
				}
				if row.outcomes[i] == forbidden {
					c.api.Get(c.list("v1")+"?watch=1&"+query).WantStatus(422, "Invalid", "ListOptions.meta.k8s.io")
					return
				}
				n++
				c.begins(query, row.outcomes[i], fmt.Sprint("later-", n))
			})
		}
	}
}

// begins opens a watch of everything and checks what it begins with; then it
// creates the object later, which has to come.
func (c *cronTabs) begins(query, outcome, later string) {
	c.t.Helper()
	w := c.watch(query)
	switch outcome {
	case existing:
		w.Expect("ADDED", "first")
		return
	case existingMarked:
		seen := map[string]bool{}
		e := w.Next()
		for ; e.Type == "ADDED"; e = w.Next() {
			seen[e.Object.Str("metadata.name")] = true
		}
		if e.Type != "BOOKMARK" || e.Object.Str("metadata.annotations.k8s.io/initial-events-end") != "true" || !seen["first"] || !seen["second"] {
			c.t.Errorf("%s after %v", e, seen)
		}
	}
	c.create(later)
	for {
		e := w.Next()
		name := e.Object.Str("metadata.name")
		if name == later {
			return
		}
		if name == "first" || name == "second" {
			c.t.Fatalf("%s came, which existed before", e)
		}
	}
}
