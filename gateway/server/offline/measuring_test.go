package offline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// Rules and the module say the same of most objects; each field in which they do not is
// told, with how often.
func TestTwoConvertersAreCompared(t *testing.T) {
	what := workbench.Comparison{A: module(t, plugintest.CronTab, ``), B: workbench.Module{Name: "rules.yaml", Content: example(t, "rules.yaml")},
		Corpus: workbench.Corpus{Definitions: example(t, "crd-v1.yaml"), Objects: [][]byte{
			[]byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a"},"host":"h","port":"1"}`),
			[]byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"b"},"host":"h"}`),
			[]byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"c"},"host":"g"}`),
			[]byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"d"},"hostPort":"h"}`),
			[]byte(`{"apiVersion":"v1","kind":"ConfigMap"}`),
		}}}
	got, err := offline.Tools{}.Compare(t.Context(), what)
	if err != nil || got.Conversions != 4 || got.Same != 1 || len(got.Places) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if p := got.Places[0]; p.From != "v1" || p.To != "v1beta1" || p.Field != "hostPort" || p.Count != 2 || p.A != `"h:"` || p.B != `"h"` || !strings.Contains(p.Object, `"name":"b"`) {
		t.Errorf("%+v", p)
	}
	if p := got.Places[1]; p.Field != "(fails)" || p.B != "converts" || !strings.Contains(p.A, "hostPort") {
		t.Errorf("%+v", p)
	}
	what.B, what.Objects = what.A, what.Objects[3:4] // which the module does not convert
	if got, err = (offline.Tools{}).Compare(t.Context(), what); err != nil || got.Conversions != 1 || got.Same != 0 || got.Neither != 1 || !strings.HasPrefix(got.Said, "v1beta1 to v1: ") || !strings.Contains(got.Said, "hostPort") || len(got.Places) > 0 {
		t.Errorf("what neither converts: %+v, %v", got, err)
	}
	what.Objects, what.Made, what.Definitions = nil, 5, example(t, "crd-lossless.yaml")
	if got, err = (offline.Tools{}).Compare(t.Context(), what); err != nil || got.Conversions < 4 || got.Same != got.Conversions || len(got.Places) > 0 {
		t.Errorf("with itself: %+v, %v", got, err)
	}
	what.Objects = [][]byte{[]byte(`{"apiVersion":"v1","kind":"ConfigMap"}`)}
	if _, err = (offline.Tools{}).Compare(t.Context(), what); err == nil || !strings.Contains(err.Error(), "no objects of the kind CronTab in example.com") {
		t.Errorf("without objects: %v", err)
	}
}

func TestConversionsAreMeasured(t *testing.T) {
	what := workbench.Bench{Module: module(t, plugintest.CronTab, ``), Batches: []int{1, 20}, Time: time.Millisecond,
		Corpus: workbench.Corpus{Definitions: example(t, "crd-v1.yaml"), Objects: [][]byte{
			[]byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a"},"hostPort":"h:1"}`),
			[]byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"b"},"hostPort":"h"}`),
		}}}
	got, err := offline.Tools{}.Bench(t.Context(), what)
	if err != nil || len(got.Rows) != 2 || got.Size != len(what.Content) || got.Load <= 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	one, many := got.Rows[0], got.Rows[1]
	if one.From != "v1beta1" || one.To != "v1" || one.Batch != 1 || one.Bytes != len(what.Objects[0]) || one.Fuel <= 0 || one.Memory <= 0 || one.PerObject != one.Took || one.Rounds < 1 {
		t.Errorf("%+v", one)
	}
	if many.Batch != 20 || many.Fuel <= 0 || many.Fuel >= one.Fuel || many.PerObject != many.Took/20 {
		t.Errorf("%+v beside %+v", many, one)
	}
	if len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "hostPort") {
		t.Errorf("what does not convert: %q", got.Problems)
	}
}

// answering is a module with one hook, which always answers the same: hardly anything has
// to be compiled for it.
func answering(hook plugins.Hook, reply string) workbench.Module {
	guest := plugintest.Echo(reply)
	only := guest.Without(string(plugins.Convert)).With(string(hook), guest.Funcs[string(plugins.Convert)])
	return workbench.Module{Name: "m.wasm", Content: only.Bytes()}
}

func TestHooksAreAsked(t *testing.T) {
	policy := module(t, plugintest.Policy, ``)
	priority := answering(plugins.Prioritize, `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{"uid":"u","versions":["v2","v1"]}}`)
	review := func(labels string) []byte {
		return []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","kind":{"version":"v1","kind":"ConfigMap"},` +
			`"resource":{"version":"v1","resource":"configmaps"},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{` + labels + `}}}}}`)
	}
	for _, c := range []struct {
		name           string
		what           workbench.Request
		reply, refused string
		problem, err   string
	}{
		{"what is let through", workbench.Request{Module: policy, Review: review(`"team":"a","tier":"x"`)}, `"allowed":true`, "", "", ""},
		{"what is refused", workbench.Request{Module: policy, Review: review(``)}, `"allowed":false`, `ConfigMap a needs a label "team"`, "", ""},
		{"an order", workbench.Request{Module: priority, Review: []byte(`{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","request":{"uid":"u","group":"g","versions":["v1","v2"]}}`)}, `"versions":["v2","v1"]`, "", "", ""},
		{"a hook that there is not", workbench.Request{Module: policy, Review: []byte(`{"kind":"ConversionReview","request":{}}`)}, "", "", "does not have this hook", ""},
		{"a request of nothing", workbench.Request{Module: policy, Review: []byte(`{"kind":"Pod"}`)}, "", "", "", `the request is of kind "Pod"`},
		{"an empty one", workbench.Request{Module: policy, Review: []byte(`{"kind":"AdmissionReview"}`)}, "", "", "", "has no request"},
		{"rules", workbench.Request{Module: workbench.Module{Name: "r", Content: example(t, "rules.yaml")}, Review: review(``)}, "", "", "", "use wasmgate convert"},
		{"an object without a name", workbench.Request{Module: policy, Review: review(``), Objects: [][]byte{[]byte(`{"kind":"A"}`)}}, "", "", "", "needs apiVersion, kind and metadata.name"},
	} {
		got, err := offline.Tools{}.Answer(t.Context(), c.what)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || !strings.Contains(got.Reply, c.reply) || got.Refused != c.refused || !strings.Contains(got.Problem, c.problem) || (got.Problem == "") != (c.problem == "") {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if c.problem == "" && (got.Fuel <= 0 || got.Memory <= 0 || got.Took <= 0) {
			t.Errorf("%s: what it cost is not told: %+v", c.name, got)
		}
	}
}
