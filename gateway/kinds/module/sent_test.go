package module

import (
	"encoding/json"
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
