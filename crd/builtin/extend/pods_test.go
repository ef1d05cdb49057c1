package extend_test

import (
	"slices"
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

// A status says of no container that it goes on which has ended for good, and of no pod that
// is on a node that there is hope for one, in the words of kube-apiserver 1.36.3.
func TestWhatStatusesOfPodsBringBack(t *testing.T) {
	d := builtintest.Definitions(t)["pod"]
	const (
		running, waiting = `"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}`, `"state":{"waiting":{"reason":"R"}}`
		no               = `.state: Forbidden: may not be transitioned to non-terminated state`
		one, first       = `status.containerStatuses[0]` + no, `status.initContainerStatuses[0]` + no
		bound            = `status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node`
		code7            = `"restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[7,8]}}]`
		but7             = `"restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"NotIn","values":[7]}}]`
		all7             = `"restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[7]}}]`
	)
	c := func(of ...string) string { return statuses("containerStatuses", of...) }
	i := func(of ...string) string { return statuses("initContainerStatuses", of...) }
	for name, tc := range map[string]struct{ policy, container, init, was, now, want string }{
		"always":                    {"Always", "", "", c("c " + exited("0")), c("c " + running), ""},
		"never":                     {"Never", "", "", c("c " + exited("1")), c("c " + running), one},
		"never, waiting":            {"Never", "", "", c("c " + exited("1")), c("c " + waiting), one},
		"never, still ended":        {"Never", "", "", c("c " + exited("1")), c("c " + exited("2")), ""},
		"never, said no more":       {"Never", "", "", c("c " + exited("1")), `"phase":"Failed"`, ""},
		"never, said of another":    {"Never", "", "", c("d "+running, "c "+exited("1")), c("c " + running), `status.containerStatuses[1]` + no},
		"never, of no container":    {"Always", "", "", c("x " + exited("1")), c("x " + running), one},
		"on failure, failed":        {"OnFailure", "", "", c("c " + exited("1")), c("c " + running), ""},
		"on failure, done":          {"OnFailure", "", "", c("c " + exited("0")), c("c " + running), one},
		"its own always":            {"Never", `"restartPolicy":"Always"`, "", c("c " + exited("0")), c("c " + running), ""},
		"its own never":             {"Always", `"restartPolicy":"Never"`, "", c("c " + exited("1")), c("c " + running), one},
		"its own on failure":        {"Always", `"restartPolicy":"OnFailure"`, "", c("c " + exited("0")), c("c " + running), one},
		"its rule":                  {"Never", `"restartPolicy":"Never",` + code7, "", c("c " + exited("7")), c("c " + running), ""},
		"not its rule":              {"Never", `"restartPolicy":"Never",` + code7, "", c("c " + exited("9")), c("c " + running), one},
		"its rule of others":        {"Never", `"restartPolicy":"Never",` + but7, "", c("c " + exited("9")), c("c " + running), ""},
		"not its rule of others":    {"Never", `"restartPolicy":"Never",` + but7, "", c("c " + exited("7")), c("c " + running), one},
		"all again":                 {"Never", `"restartPolicy":"Never",` + all7, "", c("d "+exited("0"), "c "+exited("0")), c("d "+running, "c "+running), ""},
		"init, never":               {"Never", "", "", i("i " + exited("1")), i("i " + running), first},
		"init, on failure":          {"OnFailure", "", "", i("i " + exited("1")), i("i " + running), ""},
		"init, always":              {"Always", "", "", i("i " + exited("0")), i("i " + running), ""},
		"init, one beside":          {"Never", "", `"restartPolicy":"Always"`, i("i " + exited("0")), i("i " + running), ""},
		"init of containers":        {"Always", "", "", i("c " + exited("0")), i("c " + running), first},
		"ephemeral":                 {"Always", "", "", statuses("ephemeralContainerStatuses", "e "+exited("0")), statuses("ephemeralContainerStatuses", "e "+running), `status.ephemeralContainerStatuses[0]` + no},
		"ephemeral, when all again": {"Always", `"restartPolicy":"Never",` + all7, "", statuses("ephemeralContainerStatuses", "e "+exited("0")), statuses("ephemeralContainerStatuses", "e "+running), `status.ephemeralContainerStatuses[0]` + no},
		"hope":                      {"Always", "", "", `"phase":"Pending"`, `"nominatedNodeName":"n"`, bound},
		"other hope":                {"Always", "", "", `"nominatedNodeName":"m"`, `"nominatedNodeName":"n"`, bound},
		"the same hope":             {"Always", "", "", `"nominatedNodeName":"n"`, `"nominatedNodeName":"n"`, ""},
		"no hope":                   {"Always", "", "", `"nominatedNodeName":"n"`, `"phase":"Pending"`, ""},
		"both":                      {"Never", "", "", c("c " + exited("1")), c("c "+running) + `,"nominatedNodeName":"n"`, `[` + bound + `, ` + one + `]`},
	} {
		more := func(of string) string {
			if of == "" {
				return ""
			}
			return "," + of
		}
		pod := func(status string) string {
			return `{"metadata":{"name":"x"},"spec":{"nodeName":"m","restartPolicy":"` + tc.policy + `","initContainers":[{"name":"i","image":"i"` + more(tc.init) + `}],
				"containers":[{"name":"c","image":"i"` + more(tc.container) + `},{"name":"d","image":"i"}]},"status":{` + status + `}}`
		}
		err := crdtest.Change(t, d, "status", pod(tc.was), pod(tc.now))
		if got := crdtest.Message(err); got != tc.want || (err == nil) != (tc.want == "") {
			t.Errorf("%s: %s (%v), want %s", name, got, err, tc.want)
		}
	}
	const free = `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}]}`
	if err := crdtest.Change(t, d, "status", free+`}`, free+`,"status":{"nominatedNodeName":"n"}}`); err != nil {
		t.Error(err)
	}
}

// exited is the state of a container that ended with a code.
func exited(code string) string {
	return `"state":{"terminated":{"exitCode":` + code + `,"startedAt":"2026-01-01T00:00:00Z","finishedAt":"2026-01-01T00:00:00Z"}}`
}

// statuses is a list of what is said of containers, each a name and a state.
func statuses(list string, of ...string) string {
	for i := range of {
		name, state, _ := strings.Cut(of[i], " ")
		of[i] = `{"name":"` + name + `","image":"i","imageID":"","ready":false,"restartCount":0,` + state + `}`
	}
	return `"` + list + `":[` + strings.Join(of, ",") + `]`
}

// Annotations that say what a pod is stay as they are, in the words of kube-apiserver 1.36.3.
func TestAnnotationsThatStay(t *testing.T) {
	const (
		mirror, armor = `kubernetes.io/config.mirror`, `container.apparmor.security.beta.kubernetes.io/c`
		at            = `metadata.annotations[`
		noNode        = at + mirror + `]: Invalid value: "y": must set spec.nodeName if mirror pod annotation is set`
		static        = `[]: Forbidden: static pods do not support `
	)
	pod := func(annotations, spec string) string {
		return `{"metadata":{"name":"x","annotations":{` + annotations + `}},"spec":{` + spec + `"containers":[{"name":"c","image":"i"}]}}`
	}
	const node, x, y, run, free = `"nodeName":"n",`, `"` + mirror + `":"x"`, `"` + mirror + `":"y"`, `"` + armor + `":"runtime/default"`, `"` + armor + `":"unconfined"`
	defs := builtintest.Definitions(t)
	for _, c := range []struct{ was, now, spec, want string }{
		{``, y, ``, `[` + noNode + `, ` + at + mirror + `]: Forbidden: may not add mirror pod annotation]`},
		{``, y, node, at + mirror + `]: Forbidden: may not add mirror pod annotation`},
		{``, run, ``, at + armor + `]: Forbidden: may not add AppArmor annotations`},
		{x, ``, node, at + mirror + `]: Forbidden: may not remove or update mirror pod annotation`},
		{x, y, node, at + mirror + `]: Forbidden: may not remove or update mirror pod annotation`},
		{x, x + `,"a":"b"`, node, ``},
		{run, ``, ``, at + armor + `]: Forbidden: may not remove or update AppArmor annotations`},
		{run, free, ``, at + armor + `]: Forbidden: may not remove or update AppArmor annotations`},
		{run + `,"a":"b"`, run, ``, ``},
	} {
		for _, subresource := range []string{"", "status"} {
			err := crdtest.Change(t, defs["pod"], subresource, pod(c.was, c.spec), pod(c.now, c.spec))
			if got := crdtest.Message(err); !slices.Equal(said(got), said(c.want)) || (err == nil) != (c.want == "") {
				t.Errorf("%+v %s: %s (%v)", c, subresource, got, err)
			}
		}
	}
	debugged := pod(x, node+`"ephemeralContainers":[{"name":"e","image":"i"}],`)
	if got := crdtest.Message(crdtest.Change(t, defs["pod"], "ephemeralcontainers", pod(x, node), debugged)); got != static+`ephemeral containers` {
		t.Error(got)
	}
	asked{"pod", pod(x, node+`"resourceClaims":[{"name":"r","resourceClaimName":"r"}],`), static + `resource claims`}.ask(t, defs)
}
