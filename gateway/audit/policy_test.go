package audit

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

const head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"

// What is wrong with a policy is told by its field.
func TestWrongPoliciesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"kind: Policy\nrules: [{level: None}]": "",
		"apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]": "v1beta1",
		"apiVersion: audit.k8s.io/v1\nkind: EventList\nitems: []":                "Policy",
		head:                            "rules: Required value",
		head + "rules: [{level: Some}]": `rules[0].level: Unsupported value: "Some"`,
		head + "rules: [{}]":            "rules[0].level: Required value",
		head + "rules: [{level: None, verb: [get]}]":                                  `unknown field "rules[0].verb"`,
		head + "rules: [{level: None, level: None}]":                                  "level",
		head + "rules: [{level: None, users: x}]":                                     "users",
		head + "rules: [{level: None, omitStages: [End]}]":                            "rules[0].omitStages[0]",
		head + "omitStages: [End]\nrules: [{level: None}]":                            "omitStages[0]",
		head + "rules: [{level: None, nonResourceURLs: [healthz]}]":                   "rules[0].nonResourceURLs[0]",
		head + "rules: [{level: None, nonResourceURLs: ['']}]":                        "rules[0].nonResourceURLs[0]",
		head + "rules: [{level: None, nonResourceURLs: ['/a*b']}]":                    "rules[0].nonResourceURLs[0]",
		head + "rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]":       "rules[0].nonResourceURLs",
		head + "rules: [{level: None, resources: [{group: apps/v1}]}]":                "rules[0].resources",
		head + "rules: [{level: None, resources: [{group: '', resourceNames: [a]}]}]": "resourceNames",
		head + "rules: [{level: None}] # " + strings.Repeat("x", maxPolicy):           "bytes",
	} {
		if _, err := ParsePolicy([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200s\n%v, want %s", text, err, want)
		}
	}
}

func TestTheFirstRuleThatMatchesCounts(t *testing.T) {
	p, err := ParsePolicy([]byte(head + `
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- {level: None, users: [system:apiserver]}
- {level: RequestResponse, resources: [{group: "", resources: [secrets]}], omitManagedFields: false, omitStages: [Panic]}
- {level: Metadata, userGroups: [readers], verbs: [get]}
- {level: Request, nonResourceURLs: [/api*]}
`))
	if err != nil {
		t.Fatal(err)
	}
	ann := &authn.User{Name: "ann", Groups: []string{"readers"}}
	for name, c := range map[string]struct {
		i    api.Info
		by   *authn.User
		want api.Keep
	}{
		"by user":  {api.Info{Resource: true, Verb: "get", Plural: "secrets"}, &authn.User{Name: "system:apiserver"}, api.Keep{Level: api.KeepNone, Unmanaged: true}},
		"resource": {api.Info{Resource: true, Verb: "get", Plural: "secrets"}, ann, api.Keep{Level: api.KeepResponse}},
		"group":    {api.Info{Resource: true, Verb: "get", Plural: "pods"}, ann, api.Keep{Level: api.KeepMetadata, Unmanaged: true}},
		"nobody":   {api.Info{Resource: true, Verb: "get", Plural: "pods"}, nil, api.Keep{Level: api.KeepNone, Unmanaged: true}},
		"path":     {api.Info{Verb: "get", Path: "/apis"}, nil, api.Keep{Level: api.KeepRequest, Unmanaged: true}},
		"none":     {api.Info{Verb: "get", Path: "/healthz"}, nil, api.Keep{Level: api.KeepNone, Unmanaged: true}},
	} {
		got := p.judge(&c.i, c.by)
		if got.Level != c.want.Level || got.Unmanaged != c.want.Unmanaged || !got.ByPolicy {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := (*Policy)(nil).judge(&api.Info{}, nil); got.Level != api.KeepMetadata || got.ByPolicy {
		t.Errorf("%+v", got)
	}
}

// FuzzParsePolicy: what a file holds is a policy or an error.
func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte(head + "omitStages: [Panic]\nrules: [{level: None, users: [a], resources: [{group: '', resources: ['*/status'], resourceNames: [b]}], namespaces: ['']}]"))
	f.Add([]byte(`{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Request","nonResourceURLs":["/a*"],"omitManagedFields":true}]}`))
	f.Add([]byte(head + "a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy(data)
		if (p == nil) == (err == nil) {
			t.Fatalf("%v, %v", p, err)
		}
		if err != nil {
			return
		}
		for _, i := range []api.Info{{Resource: true, Verb: "get", Plural: "pods", Subresource: "status", Name: "b"}, {Verb: "get", Path: "/ab"}} {
			switch k := p.judge(&i, nil); k.Level {
			case api.KeepNone, api.KeepMetadata, api.KeepRequest, api.KeepResponse:
			default:
				t.Errorf("level %q", k.Level)
			}
		}
	})
}

// BenchmarkJudge is what a policy of 20 rules costs each request.
func BenchmarkJudge(b *testing.B) {
	rules := strings.Repeat("- {level: Request, users: [someone], verbs: [get], resources: [{group: apps, resources: [deployments, deployments/status]}]}\n", 19)
	p, err := ParsePolicy([]byte(head + "rules:\n" + rules + "- {level: Metadata}\n"))
	if err != nil {
		b.Fatal(err)
	}
	i, by := &api.Info{Resource: true, Verb: "get", Plural: "configmaps", Name: "a", Namespace: "b"}, &authn.User{Name: "ann"}
	b.ReportAllocs()
	for b.Loop() {
		p.judge(i, by)
	}
}
