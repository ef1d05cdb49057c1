package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin"
)

// The replies are those of kube-apiserver 1.36.3 with the same configuration.

// annotated is a request in a namespace with annotations.
type annotated struct {
	*admissiontest.Attributes
	annotations map[string]string
}

func (a annotated) GetNamespaceObject(context.Context, string) (*corev1.Namespace, error) {
	if a.annotations == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "n")
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: a.annotations}}, nil
}

// both is a plugin that edits and validates.
type both interface {
	admission.Editor
	admission.Validator
}

// decided is a part of a pod as a plugin leaves it, or why it refuses it.
func decided(t *testing.T, p both, a annotated, field string) string {
	t.Helper()
	if !p.Edits(a.Operation, a.Resource.GroupResource(), a.Subresource) {
		return "not looked at"
	}
	before, _ := json.Marshal(a.After)
	changed, err := p.Edit(t.Context(), a, a.After)
	if after, _ := json.Marshal(a.After); err == nil && changed == (string(before) == string(after)) {
		t.Errorf("changed: %t, from %s to %s", changed, before, after)
	}
	if err == nil {
		err = p.Validate(t.Context(), a)
	}
	if err != nil {
		return err.Error()
	}
	text, _ := json.Marshal(a.After["spec"].(map[string]any)[field])
	return string(text)
}

func TestPodsGetTheSelectorOfTheirNamespace(t *testing.T) {
	p, err := plugin.NewPodNodeSelector([]byte("podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: env=all, 'n': 'env=all,a=b'}"))
	if err != nil {
		t.Fatal(err)
	}
	const annotation = "scheduler.alpha.kubernetes.io/node-selector"
	unlimited, err := plugin.NewPodNodeSelector(nil)
	if err != nil {
		t.Fatal(err)
	}
	said := func(selector string) map[string]string { return map[string]string{annotation: selector} }
	for _, c := range []struct {
		p              plugin.PodNodeSelector
		annotations    map[string]string
		selector, want string
	}{
		{p, map[string]string{}, ``, `{"env":"all"}`},
		{p, map[string]string{}, `"env":"all"`, `{"env":"all"}`},
		{p, map[string]string{}, `"a":"b"`, `{"a":"b","env":"all"}`},
		{p, map[string]string{}, `"env":"x"`, `pods "x" is forbidden: pod node label selector conflicts with its namespace node label selector`},
		{p, map[string]string{}, `"c":"d"`, `pods "x" is forbidden: pod node label selector labels conflict with its namespace whitelist`},
		{p, said(""), `"a":"b"`, `{"a":"b"}`},
		{p, said("zone in (x)"), ``, `invalid selector: [zone in (x)]`},
		{p, nil, ``, `namespaces "n" not found`},
		{unlimited, map[string]string{}, `"c":"d"`, `{"c":"d"}`},
		{unlimited, said("zone=1,b=2"), `"c":"d"`, `{"b":"2","c":"d","zone":"1"}`},
		{unlimited, said("zone=1,b=2"), `"b":"3"`, `pods "x" is forbidden: pod node label selector conflicts with its namespace node label selector`},
	} {
		a := annotated{asked(t, "pods", `{"metadata":{"name":"x"},"spec":{"nodeSelector":{`+c.selector+`}}}`, ""), c.annotations}
		if got := decided(t, c.p, a, "nodeSelector"); got != c.want {
			t.Errorf("{%s} in %v: %s, want %s", c.selector, c.annotations, got, c.want)
		}
		a.After["spec"] = map[string]any{"nodeSelector": map[string]any{"env": "x"}}
		if err := c.p.Validate(t.Context(), a); c.want == `{"env":"all"}` && err == nil {
			t.Error("what a webhook made of it is not judged")
		}
	}
	update := annotated{asked(t, "pods", `{"spec":{"nodeSelector":{"env":"x"}}}`, `{"spec":{}}`), map[string]string{}}
	if err := p.Validate(t.Context(), update); err != nil || decided(t, p, update, "nodeSelector") != "not looked at" {
		t.Errorf("an update: %v", err)
	}
	for _, text := range []string{"podNodeSelectorPluginConfig: {'n': x in (y)}", "podNodeSelector: {}", "podNodeSelectorPluginConfig: [a]", "\t"} {
		if _, err := plugin.NewPodNodeSelector([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

const restrictions = `{"apiVersion":"podtolerationrestriction.admission.k8s.io/v1alpha1","kind":"Configuration","default":[{"key":"dk","operator":"Exists"}],"whitelist":[{"key":"dk","operator":"Exists"},{"key":"node.kubernetes.io/memory-pressure","operator":"Exists"}]}`

func TestTolerationsAreRestricted(t *testing.T) {
	p, err := plugin.NewPodTolerationRestriction([]byte(restrictions))
	if err != nil {
		t.Fatal(err)
	}
	const (
		given, allowed = "scheduler.alpha.kubernetes.io/defaultTolerations", "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
		dk, pressure   = `{"key":"dk","operator":"Exists"}`, `{"effect":"NoSchedule","key":"node.kubernetes.io/memory-pressure","operator":"Exists"}`
		conflict       = "pod tolerations (possibly merged with namespace default tolerations) conflict with its "
	)
	all := map[string]string{given: `[{"key":"a","operator":"Equal","value":"v"},{"key":"m"}]`, allowed: ""}
	none := map[string]string{}
	for _, c := range []struct {
		annotations           map[string]string
		tolerations, asks, of string
		want                  string
	}{
		{none, ``, `{}`, ``, `[` + dk + `]`},
		{none, dk, `{}`, ``, `[` + dk + `]`},
		{none, `{"key":"a","operator":"Exists"}`, `{}`, ``, conflict + "cluster whitelist"},
		{none, ``, `{"requests":{"cpu":"1"}}`, ``, `[` + dk + `,` + pressure + `]`},
		{none, ``, `{"limits":{"memory":"1"}}`, ``, `[` + dk + `,` + pressure + `]`},
		{none, ``, `{"requests":{"cpu":"0","example.com/device":"1"}}`, ``, `[` + dk + `]`},
		{none, ``, `{"requests":{"cpu":"1"}}`, `,"status":{"qosClass":"BestEffort"}`, `[` + dk + `]`},
		{none, ``, `{}`, `,"status":{"qosClass":"Burstable"}`, `[` + dk + `,` + pressure + `]`},
		{none, ``, `{"requests":{"cpu":"1e2000000000"}}`, ``, `the quantity "1e2000000000" has an exponent beyond 1000`},
		{all, ``, `{}`, ``, `[{"key":"a","operator":"Equal","value":"v"},{"key":"m"}]`},
		{all, `{"key":"a","operator":"Exists"}`, `{}`, ``, `[{"key":"a","operator":"Exists"},{"key":"m"}]`},
		{map[string]string{given: ""}, ``, `{}`, ``, `null`},
		{map[string]string{given: "[{"}, ``, `{}`, ``, "unexpected end of JSON input"},
		{map[string]string{allowed: `[{"key":"k","operator":"Exists"}]`}, ``, `{}`, ``, conflict + "namespace whitelist"},
		{map[string]string{given: `[` + strings.Repeat(dk+",", 2000) + dk + `]`}, ``, `{}`, ``, "2001 tolerations are compared, more than 2000"},
		{nil, ``, `{}`, ``, `namespaces "n" not found`},
	} {
		body := `{"metadata":{"name":"x"},"spec":{"tolerations":[` + c.tolerations + `],"containers":[{"resources":` + c.asks + `}]}` + c.of + `}`
		if c.tolerations == "" {
			body = strings.Replace(body, `"tolerations":[],`, "", 1)
		}
		if got := decided(t, p, annotated{asked(t, "pods", body, ""), c.annotations}, "tolerations"); !strings.HasSuffix(got, c.want) {
			t.Errorf("%.200s in %.100v: %s, want %s", body, c.annotations, got, c.want)
		}
	}
	// An update gets no defaults, and is held to what is allowed now.
	same := `{"spec":{"tolerations":[{"key":"a"}]}}`
	if got := decided(t, p, annotated{asked(t, "pods", same, same), none}, "tolerations"); got != conflict+"cluster whitelist" {
		t.Error(got)
	}
	if got := decided(t, p, annotated{asked(t, "pods", `{"spec":{}}`, same), none}, "tolerations"); got != "null" {
		t.Error(got)
	}
}

func TestRestrictionsThatCannotBeUsed(t *testing.T) {
	const begin = `{"apiVersion":"podtolerationrestriction.admission.k8s.io/v1alpha1","kind":"Configuration","default":[{`
	for config, want := range map[string]string{
		`{"apiVersion":"v1","kind":"Configuration"}`:    "its configuration is a Configuration of podtolerationrestriction.admission.k8s.io/v1alpha1",
		begin + `"odd":"x"}]}`:                          `unknown field "default[0].odd"`,
		begin + `"key":"!"}]}`:                          `invalid config: [podtolerationrestriction.default[0].key: Invalid value: "!"`,
		begin + `"value":"v"}]}`:                        "default[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty",
		begin + `"key":"k","tolerationSeconds":1}]}`:    "effect must be 'NoExecute' when `tolerationSeconds` is set",
		begin + `"key":"k","value":"!"}]}`:              `default[0].operator: Invalid value: "!"`,
		begin + `"operator":"Exists","value":"v"}]}`:    "value must be empty when `operator` is 'Exists'",
		begin + `"key":"k","operator":"Lt"}]}`:          `default[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists"`,
		begin + `"operator":"Exists","effect":"Odd"}]}`: `default[0].effect: Unsupported value: "Odd"`,
	} {
		if _, err := plugin.NewPodTolerationRestriction([]byte(config)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", config, err, want)
		}
	}
}

func TestPodsTolerateTheNodesOfTheirDevices(t *testing.T) {
	const one, two = `{"effect":"NoSchedule","key":"example.com/a","operator":"Exists"}`, `{"effect":"NoSchedule","key":"example.com/b","operator":"Exists"}`
	pod := func(tolerations string) string {
		return `{"spec":{"tolerations":[` + tolerations + `],"containers":[{"resources":{"requests":{"example.com/b":"1","cpu":"1","requests.example.com/x":"1","x.kubernetes.io/y":"1","example.com/-":"1"}}}],"initContainers":[{"resources":{"requests":{"example.com/a":"1"}}}]}}`
	}
	for given, want := range map[string]string{
		``:                               one + `,` + two,
		two:                              two + `,` + one,
		`{"key":"example.com/a"},` + two: `{"key":"example.com/a"},` + two + `,` + one,
		strings.Replace(two, `"key"`, `"tolerationSeconds":1,"key"`, 1) + `,` + one: two + `,` + one,
	} {
		a := asked(t, "pods", pod(given), "")
		if _, err := (plugin.ExtendedResourceToleration{}).Edit(t.Context(), a, a.After); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(a.After["spec"].(map[string]any)["tolerations"]); string(got) != `[`+want+`]` {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
	p := plugin.ExtendedResourceToleration{}
	if p.Edits(admission.Create, pods, "status") || p.Edits(admission.Connect, pods, "") || !p.Edits(admission.Update, pods, "") {
		t.Error("other requests are looked at, or updates are not")
	}
}

// someone is a user of a name.
type someone struct{ user.DefaultInfo }

func (s *someone) Info() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: s.Name}
}

func TestEventsAreLimited(t *testing.T) {
	now := time.Unix(0, 0)
	p, err := plugin.NewEventRateLimit([]byte("apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\nlimits: [{type: Namespace, qps: 1, burst: 3, cacheSize: 2}, {type: User, qps: 1, burst: 4}, {type: SourceAndObject, qps: 1, burst: 2}, {type: Server, qps: 9, burst: 9, cacheSize: -1}]"), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	send := func(namespace, by, about string, change func(*admissiontest.Attributes)) string {
		a := asked(t, "events", `{"involvedObject":{"kind":"Pod","namespace":"n","name":"`+about+`"},"source":{"component":"c","host":"h"}}`, "")
		a.Kind, a.Namespace, a.User = schema.GroupVersionKind{Version: "v1", Kind: "Event"}, namespace, &someone{user.DefaultInfo{Name: by}}
		if change != nil {
			change(a)
		}
		if err := p.Validate(t.Context(), a); err != nil {
			if !apierrors.IsTooManyRequests(err) {
				t.Errorf("no 429: %v", err)
			}
			return err.Error()
		}
		return ""
	}
	const object = "limit reached on type SourceAndObject for key chPodno"
	for i, want := range []string{"", "", "Too many requests: " + object, "Too many requests: [limit reached on type Namespace for key n, " + object + "]", "Too many requests: [limit reached on type Namespace for key n, limit reached on type User for key bob, " + object + "]"} {
		if got := send("n", "bob", "o", nil); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	for what, change := range map[string]func(*admissiontest.Attributes){
		"a dry run":        func(a *admissiontest.Attributes) { a.DryRun = true },
		"of another group": func(a *admissiontest.Attributes) { a.Kind.Group = "events.k8s.io" },
		"a deletion":       func(a *admissiontest.Attributes) { a.Operation = admission.Delete },
	} {
		if got := send("n", "bob", "o", change); got != "" {
			t.Errorf("%s: %s", what, got)
		}
	}
	if got := send("n", "eve", "other", func(a *admissiontest.Attributes) { a.Operation = admission.Update }); got != "Too many requests: limit reached on type Namespace for key n" {
		t.Error(got)
	}
	if got := send("m", "eve", "other", nil) + send("l", "eve", "third", nil) + send("n", "eve", "fourth", nil); got != "" {
		t.Errorf("what is forgotten of namespaces is remembered: %s", got)
	}
	if got := send("m", "mia", "other", nil); !strings.Contains(got, "type Server for key") {
		t.Errorf("the tenth event: %q", got)
	}
	now = now.Add(time.Second)
	if got := send("n", "bob", "o", nil); got != "" {
		t.Errorf("a second later: %s", got)
	}
}

func TestLimitsOfEventsThatCannotBeUsed(t *testing.T) {
	const begin = "apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\n"
	for config, want := range map[string]string{
		"":                           `limits: Invalid value: null: must not be empty`,
		"kind: Configuration":        "its configuration is a Configuration of eventratelimit.admission.k8s.io/v1alpha1, not",
		begin + "limits: [{odd: 1}]": `unknown field "limits[0].odd"`,
		begin + "limits: [{type: Odd, cacheSize: -1}]": `[limits[0].type: Unsupported value: "Odd": supported values: "Server", "Namespace", "User", "SourceAndObject", limits[0].burst: Invalid value: 0: must be positive, limits[0].qps: Invalid value: 0: must be positive, limits[0].cacheSize: Invalid value: -1: must not be negative]`,
	} {
		text := []byte(config)
		if config == "" {
			text = nil
		}
		if _, err := plugin.NewEventRateLimit(text, time.Now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", config, fmt.Sprint(err), want)
		}
	}
}

func TestPodsKeepOthersAwayFromTheirNodeAlone(t *testing.T) {
	for key, want := range map[string]string{
		"kubernetes.io/hostname": "<nil>",
		"zone":                   `pods "x" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed`,
	} {
		a := asked(t, "pods", `{"metadata":{"name":"x"},"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname"},{"topologyKey":"`+key+`"}],"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{"topologyKey":"any"}}]}}}}`, "")
		if got := fmt.Sprint(plugin.LimitPodHardAntiAffinity{}.Validate(t.Context(), a)); got != want {
			t.Errorf("%s: %s", key, got)
		}
		a.Subresource = "status"
		if err := (plugin.LimitPodHardAntiAffinity{}).Validate(t.Context(), a); err != nil {
			t.Errorf("a status: %v", err)
		}
	}
}

func TestNamespacesHaveToBeThere(t *testing.T) {
	for namespace, found := range map[string]bool{"there": true, "gone": false, "": true} {
		for _, operation := range []admission.Operation{admission.Create, admission.Update, admission.Delete} {
			a := asked(t, "configmaps", `{}`, "")
			a.Namespace, a.Operation, a.Namespaces = namespace, operation, admissiontest.Namespaces{"there": nil}
			if err := (plugin.NamespaceExists{}).Validate(t.Context(), a); found == apierrors.IsNotFound(err) || found && err != nil {
				t.Errorf("%s in %q: %v", operation, namespace, err)
			}
			if a.Own = true; (plugin.NamespaceExists{}).Validate(t.Context(), a) != nil {
				t.Errorf("%s in %q: the gateway may not", operation, namespace)
			}
		}
	}
}
