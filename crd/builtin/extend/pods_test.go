package extend_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// Of a pod that waits for its scheduling gates it may only be said more closely where it is
// to run, in the words of kube-apiserver 1.36.3.
func TestAffinityOfPodsThatWait(t *testing.T) {
	d := builtintest.Definitions(t)["pod"]
	pod := func(said string) string {
		if said != "" {
			said = `,` + said
		}
		return `{"metadata":{"name":"x"},"spec":{"schedulingGates":[{"name":"a.b/c"}],"containers":[{"name":"c","image":"i"}]` + said + `}}`
	}
	// nodes is an affinity with terms.
	nodes := func(more string, terms ...string) string {
		return `"affinity":{` + more + `"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + strings.Join(terms, ",") + `]}}}`
	}
	key := func(key string) string { return `{"key":"` + key + `","operator":"Exists"}` }
	by := func(requirements ...string) string {
		return `{"matchExpressions":[` + strings.Join(requirements, ",") + `]}`
	}
	const (
		name, other = `{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}`, `{"matchFields":[{"key":"metadata.name","operator":"In","values":["o"]}]}`
		at          = `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`
		count, less = `: no additions/deletions to non-empty NodeSelectorTerms list are allowed`, `: only additions are allowed (no mutations or deletions)`
		fixed       = "spec: Forbidden: pod updates may not change fields other than"
		preferred   = `"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}]}}`
		beside      = `"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{"matchLabels":{"a":"b"}}}]}`
		apart       = `"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{"matchLabels":{"a":"b"}}}]}`
		a           = `{"Key":"a","Operator":"Exists","Values":null}`
		b           = `{"Key":"b","Operator":"Exists","Values":null}`
	)
	one := by(key("a"))
	for name, c := range map[string]struct{ was, now, want string }{
		"the same":            {nodes("", one), nodes("", one), ""},
		"where none was":      {"", nodes("", one), ""},
		"no longer preferred": {preferred, `"affinity":{}`, ""},
		"beside preferred":    {preferred, nodes("", one), ""},
		"one more":            {nodes("", one), nodes("", by(key("a"), key("b"))), ""},
		"one more before":     {nodes("", one), nodes("", by(key("b"), key("a"))), at + `[0]: Invalid value: {"MatchExpressions":[` + b + `,` + a + `],"MatchFields":null}` + less},
		"a field more":        {nodes("", one), nodes("", `{"matchExpressions":[`+key("a")+`],`+name[1:]), ""},
		"another":             {nodes("", one), nodes("", by(key("b"))), at + `[0]: Invalid value: {"MatchExpressions":[` + b + `],"MatchFields":null}` + less},
		"another field":       {nodes("", name), nodes("", other), at + `[0]: Invalid value: {"MatchExpressions":null,"MatchFields":[{"Key":"metadata.name","Operator":"In","Values":["o"]}]}` + less},
		"of none to some":     {nodes("", `{}`), nodes("", one), at + `[0]: Invalid value: {"MatchExpressions":[` + a + `],"MatchFields":null}` + less},
		"a term more":         {nodes("", one), nodes("", one, by(key("b"))), at + `: Invalid value: [{"MatchExpressions":[` + a + `],"MatchFields":null},{"MatchExpressions":[` + b + `],"MatchFields":null}]` + count},
		"none":                {nodes("", one), "", at + `: Invalid value: null` + count},
		"an empty affinity":   {"", `"affinity":{}`, fixed},
		"beside pods":         {"", `"affinity":{` + beside + `}`, fixed},
		"both":                {"", nodes(beside+",", one), fixed},
		"more beside pods":    {nodes(beside+",", one), nodes(beside+",", by(key("a"), key("b"))), ""},
		"no more beside pods": {nodes(beside+",", one), nodes("", by(key("a"), key("b"))), fixed},
		"apart from pods":     {nodes("", one), nodes(apart+",", by(key("a"), key("b"))), fixed},
		"a label of nodes":    {`"nodeSelector":{"a":"b"}`, `"nodeSelector":{"a":"b","c":"d"}`, ""},
		"another label":       {`"nodeSelector":{"a":"b"}`, `"nodeSelector":{"a":"c"}`, `spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)`},
		"no label":            {`"nodeSelector":{"a":"b"}`, "", `spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector are allowed (no mutations or deletions)`},
	} {
		err := crdtest.Change(t, d, "", pod(c.was), pod(c.now))
		got := crdtest.Message(err)
		if c.want == fixed && strings.HasPrefix(got, fixed) {
			got = fixed
		}
		if got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
		}
	}
	// one that waits no more is not to be changed at all
	free := func(said string) string {
		return strings.Replace(pod(said), `"schedulingGates":[{"name":"a.b/c"}],`, ``, 1)
	}
	if got := crdtest.Message(crdtest.Change(t, d, "", free(`"nodeSelector":{"a":"b"}`), free(``))); !strings.HasPrefix(got, fixed) || strings.Contains(got, "nodeSelector are") {
		t.Errorf("%s", got)
	}
}
