package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// histEvent is a change of an object.
type histEvent struct {
	rv                int64
	kind, name, value string
}

// histList is what a list said.
type histList struct {
	// how it was asked for.
	how string
	rv  int64
	// atLeast is the revision of a write that was acknowledged before it was
	// asked for, where it must include that.
	atLeast int64
	// values are the objects' by name.
	values map[string]string
}

// wrongEvents compares what a watcher saw with all changes that there were, both
// in order, and returns the first difference.
func wrongEvents(truth, seen []histEvent) error {
	for i := range max(len(truth), len(seen)) {
		switch {
		case i >= len(seen):
			return fmt.Errorf("event %d never came: %v", i, truth[i])
		case i >= len(truth):
			return fmt.Errorf("event %d is of no change: %v", i, seen[i])
		case truth[i] != seen[i]:
			return fmt.Errorf("event %d is %v, and etcd has %v", i, seen[i], truth[i])
		}
	}
	return nil
}

// wrongLists returns what is wrong with lists: each must be all objects as they
// were at its own revision, and that not before what it must include.
func wrongLists(truth []histEvent, lists []histList) (wrong []error) {
	lists = slices.SortedFunc(slices.Values(lists), func(a, b histList) int { return cmp.Compare(a.rv, b.rv) })
	now, next := map[string]string{}, 0
	for _, l := range lists {
		for ; next < len(truth) && truth[next].rv <= l.rv; next++ {
			if e := truth[next]; e.kind == "DELETED" {
				delete(now, e.name)
			} else {
				now[e.name] = e.value
			}
		}
		if l.rv < l.atLeast {
			wrong = append(wrong, fmt.Errorf("a list (%s) is of %d, and %d was acknowledged before", l.how, l.rv, l.atLeast))
		}
		if !maps.Equal(now, l.values) {
			wrong = append(wrong, fmt.Errorf("a list (%s) of %d is %v, and etcd had %v", l.how, l.rv, l.values, now))
		}
	}
	return wrong
}

// wrongReplies returns what replies said of objects that was never so. Of each,
// the revision, name and value count.
func wrongReplies(truth, told []histEvent) (wrong []error) {
	was := map[histEvent]bool{}
	for _, e := range truth {
		if e.kind != "DELETED" {
			was[histEvent{rv: e.rv, name: e.name, value: e.value}] = true
		}
	}
	for _, e := range told {
		if !was[histEvent{rv: e.rv, name: e.name, value: e.value}] {
			wrong = append(wrong, fmt.Errorf("a reply said of %s that it was %s at %d, which it was not", e.name, e.value, e.rv))
		}
	}
	return wrong
}

// TestBrokenHistories is about what the checks of a history do not let pass.
func TestBrokenHistories_WATCH02_WATCH04_RV05(t *testing.T) {
	truth := []histEvent{{1, "ADDED", "a", "x"}, {2, "ADDED", "b", "y"}, {4, "MODIFIED", "a", "z"}, {7, "DELETED", "b", "y"}}
	if err := wrongEvents(truth, slices.Clone(truth)); err != nil {
		t.Errorf("a watcher that saw everything: %v", err)
	}
	for name, seen := range map[string][]histEvent{
		"nothing":       nil,
		"a lost event":  {truth[0], truth[1], truth[3]},
		"a lost end":    truth[:3],
		"one twice":     {truth[0], truth[1], truth[1], truth[2], truth[3]},
		"another order": {truth[0], truth[2], truth[1], truth[3]},
		"no change":     append(slices.Clone(truth), histEvent{8, "ADDED", "b", "y"}),
		"another kind":  {truth[0], truth[1], {4, "ADDED", "a", "z"}, truth[3]},
		"another value": {truth[0], truth[1], truth[2], {7, "DELETED", "b", "x"}},
	} {
		if wrongEvents(truth, seen) == nil {
			t.Errorf("%s passes for what a watcher saw", name)
		}
	}
	for name, c := range map[string]struct {
		right bool
		list  histList
	}{
		"before all":                {true, histList{rv: 0}},
		"between":                   {true, histList{rv: 3, atLeast: 2, values: map[string]string{"a": "x", "b": "y"}}},
		"after all":                 {true, histList{rv: 9, atLeast: 7, values: map[string]string{"a": "z"}}},
		"a lost object":             {false, histList{rv: 3, values: map[string]string{"a": "x"}}},
		"one that is gone":          {false, histList{rv: 7, values: map[string]string{"a": "z", "b": "y"}}},
		"an old value":              {false, histList{rv: 5, values: map[string]string{"a": "x", "b": "y"}}},
		"one of later":              {false, histList{rv: 3, values: map[string]string{"a": "z", "b": "y"}}},
		"older than it may be":      {false, histList{rv: 3, atLeast: 4, values: map[string]string{"a": "x", "b": "y"}}},
		"an object that never was":  {false, histList{rv: 9, values: map[string]string{"a": "z", "c": "x"}}},
		"said as no version has it": {false, histList{rv: 9, values: map[string]string{"a": `["v1" "z:80" "" ""] for v1`}}},
	} {
		// One after it shows that lists are put in order.
		wrong := wrongLists(truth, []histList{{rv: 9, values: map[string]string{"a": "z"}}, c.list})
		if (len(wrong) == 0) != c.right {
			t.Errorf("%s: %v", name, wrong)
		}
	}
	for told, wrong := range map[histEvent]int{{4, "", "a", "z"}: 0, {1, "", "a", "x"}: 0, {4, "", "a", "x"}: 1, {3, "", "a", "x"}: 1, {4, "", "b", "z"}: 1, {7, "", "b", "y"}: 1} {
		if got := wrongReplies(truth, []histEvent{told}); len(got) != wrong {
			t.Errorf("%v: %v", told, got)
		}
	}
}

// TestValuesAtVersions is about values that are said as another version does.
func TestValuesAtVersions_RV05(t *testing.T) {
	tabs := histTabs("g", "ns")
	for text, right := range map[string]string{
		`{"apiVersion":"g/v1","host":"v7","port":"80"}`:                    "v1",
		`{"apiVersion":"g/v1beta1","hostPort":"v7:80"}`:                    "v1beta1",
		`{"apiVersion":"g/v1beta1","host":"v7","port":"80"}`:               "",
		`{"apiVersion":"g/v1","hostPort":"v7:80"}`:                         "",
		`{"apiVersion":"g/v1","host":"v7"}`:                                "",
		`{"apiVersion":"g/v1","hostPort":"v7:80","host":"v7","port":"80"}`: "",
	} {
		o, err := readSeen([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, version := range tabs.versions {
			if got := o.value(tabs, version); (got == "v7") != (version == right) {
				t.Errorf("%s read at %s is %s", text, version, got)
			}
		}
	}
}
