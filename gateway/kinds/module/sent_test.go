package module

import (
	"encoding/json"
	"slices"
	"testing"
)

// sentBy is what a webhook is sent whose rules match everything, but for selectors.
func sentBy(t *testing.T, text string) []Sent {
	t.Helper()
	hook := map[string]any{}
	if err := json.Unmarshal([]byte(`{"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}],`+text+`}`), &hook); err != nil {
		t.Fatal(err)
	}
	return sentTo(hook)
}

func TestSelectorsThatLeaveLess(t *testing.T) {
	term := func(text string) string { return `"namespaceSelector":{"matchExpressions":[` + text + `]}` }
	const in, both, notIn, notBoth = `{"key":"a","operator":"In","values":["x"]}`, `{"key":"a","operator":"In","values":["x","y"]}`, `{"key":"a","operator":"NotIn","values":["x"]}`, `{"key":"a","operator":"NotIn","values":["x","y"]}`
	const exists, absent, other = `{"key":"a","operator":"Exists"}`, `{"key":"a","operator":"DoesNotExist"}`, `{"key":"a","operator":"In","values":["z"]}`
	within := map[string][]string{
		in: {in, both, exists}, both: {both, exists}, notIn: {notIn}, notBoth: {notIn, notBoth}, exists: {exists}, absent: {absent, notIn, notBoth}, other: {other, exists, notIn, notBoth},
	}
	for mine, wider := range within {
		for theirs := range within {
			want := false
			for _, w := range wider {
				want = want || w == theirs
			}
			if got := sentBy(t, term(mine))[0].Within(sentBy(t, term(theirs))); got != want {
				t.Errorf("%s within %s: %v", mine, theirs, got)
			}
		}
		if !sentBy(t, term(mine))[0].Within(sentBy(t, term(""))) || sentBy(t, term(""))[0].Within(sentBy(t, term(mine))) {
			t.Errorf("%s is not less than everything", mine)
		}
	}
	mine := sentBy(t, term(in))
	for _, theirs := range []string{`"objectSelector":{"matchLabels":{"a":"x"}}`, `"namespaceSelector":{"matchLabels":{"b":"x"}}`, `"objectSelector":{"matchLabels":{"b":"x"}}`} {
		if mine[0].Within(sentBy(t, theirs)) {
			t.Errorf("what has a label is within what has another, %s", theirs)
		}
	}
	if sentBy(t, `"namespaceSelector":{"matchLabels":{"a":7}}`)[0].Within(sentBy(t, term(in))) {
		t.Error("what is no text counts as one")
	}
}

func TestRulesThatMatchLess(t *testing.T) {
	rules := func(resources string) []Sent {
		var hook map[string]any
		if err := json.Unmarshal([]byte(`{"rules":[{"operations":["CREATE"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":[`+resources+`]}]}`), &hook); err != nil {
			t.Fatal(err)
		}
		return sentTo(hook)
	}
	for _, c := range []struct {
		mine, theirs string
		want         bool
	}{
		{`"pods"`, `"pods"`, true}, {`"pods"`, `"pods","secrets"`, true}, {`"pods","secrets"`, `"pods"`, false}, {`"pods"`, `"*"`, true}, {`"pods/log"`, `"*"`, false},
		{`"pods/log"`, `"*/*"`, true}, {`"*"`, `"*/*"`, true}, {`"*/*"`, `"*"`, false}, {`"*"`, `"pods"`, false},
	} {
		if got := rules(c.mine)[0].Within(rules(c.theirs)); got != c.want {
			t.Errorf("%s within %s: %v", c.mine, c.theirs, got)
		}
	}
	if (Sent{group: "a"}).Within([]Sent{{group: "b"}}) || !(Sent{group: "a"}).Within([]Sent{{group: "b"}, {group: "a"}}) {
		t.Error("groups are mixed up")
	}
}

// Conditions, an exact match and a scope leave less, too.
func TestConditionsThatLeaveLess(t *testing.T) {
	const a, b, both = `"matchConditions":[{"name":"x","expression":"a"}]`, `"matchConditions":[{"name":"x","expression":"b"}]`, `"matchConditions":[{"name":"y","expression":"b"},{"name":"x","expression":"a"}]`
	for _, c := range []struct {
		mine, theirs string
		want         bool
	}{
		{a, `"name":"x"`, true}, {`"name":"x"`, a, false}, {a, a, true}, {a, b, false}, {both, a, true}, {both, b, true}, {a, both, false},
		{`"matchPolicy":"Exact"`, `"matchPolicy":"Equivalent"`, true}, {`"matchPolicy":"Equivalent"`, `"matchPolicy":"Exact"`, false}, {`"matchPolicy":"Exact"`, `"matchPolicy":"Exact"`, true},
	} {
		if got := sentBy(t, c.mine)[0].Within(sentBy(t, c.theirs)); got != c.want {
			t.Errorf("%s within %s: %v", c.mine, c.theirs, got)
		}
	}
	scoped := func(scope string) []Sent {
		return sentBy(t, `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]`+scope+`}]`)
	}
	const every, cluster, namespaced = `,"scope":"*"`, `,"scope":"Cluster"`, `,"scope":"Namespaced"`
	within := map[string][]string{"": {"", every}, every: {"", every}, cluster: {"", every, cluster}, namespaced: {"", every, namespaced}}
	for mine, wider := range within {
		for theirs := range within {
			if got := scoped(mine)[0].Within(scoped(theirs)); got != slices.Contains(wider, theirs) {
				t.Errorf("%s within %s: %v", mine, theirs, got)
			}
		}
	}
}
