package pod

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

const onNode = `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`

func evict(name string) string { return `{"metadata":{"name":"` + name + `"}}` }

// A dry run that is asked for in the query changes nothing either.
func TestDryRunsChangeNothing(t *testing.T) {
	e := world(t)
	before := look(t, e, kind, "p")
	dry := resource.WriteOptions{Caller: resource.Component("test"), DryRun: true}
	for subresource, body := range map[string]string{"binding": onNode, "eviction": evict("p")} {
		if got := askWith(t, e, subresource, "p", body, dry); got != "" {
			t.Errorf("%s: %s", subresource, got)
		}
		if after := look(t, e, kind, "p"); after.GetResourceVersion() != before.GetResourceVersion() {
			t.Errorf("a dry run of %s makes %v", subresource, after.Object)
		}
	}
}

// A pod that the scheduler found no node for has one condition about that.
func TestABindingReplacesWhatWasSaidBefore(t *testing.T) {
	e := world(t)
	setStatus(t, e, kind, "p", map[string]any{"phase": "Pending", "conditions": []any{
		map[string]any{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}, map[string]any{"type": "Ready", "status": "False"},
	}})
	if got := ask(t, e, "binding", "p", `{"metadata":{"name":"p","annotations":{"a":"b"}},"target":{"name":"n"}}`); got != "" {
		t.Fatal(got)
	}
	p := look(t, e, kind, "p")
	conditions, _, _ := unstructured.NestedSlice(p.Object, "status", "conditions")
	if len(conditions) != 2 || conditions[0].(map[string]any)["status"] != "True" || p.GetAnnotations()["a"] != "b" {
		t.Errorf("%v", p.Object)
	}
}

func TestPodsThatCannotBeBound(t *testing.T) {
	e := world(t)
	create(t, e, kind, "metadata: {name: gated, namespace: ns}\nspec: {schedulingGates: [{name: example.com/g}], containers: [{name: c, image: i}]}")
	for _, c := range []struct{ pod, meta, want string }{
		{"gated", `"name":"gated"`, "has non-empty .spec.schedulingGates"},
		{"p", `"name":"q"`, "name in URL does not match"},
		{"p", `"name":"p","uid":"another"`, "UID in precondition: another"},
		{"p", `"name":"p","resourceVersion":"1"`, "ResourceVersion in precondition: 1"},
	} {
		if got := ask(t, e, "binding", c.pod, `{"metadata":{`+c.meta+`},"target":{"name":"n"}}`); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %q", c.pod, c.meta, got)
		}
	}
}

// Schedulers send protobuf; older clients name an older version.
func TestBodiesInOtherForms(t *testing.T) {
	e := world(t)
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	wanted := &corev1.Binding{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Binding"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	if err := protobuf.NewSerializer(s, s).Encode(wanted, &body); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, e, "binding", "p", body.String()); got != "" {
		t.Error(got)
	}
	if got := ask(t, e, "eviction", "p", `{"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"p","annotations":{"of":"\ud83d\ude00"}}}`); got != "" {
		t.Error(got)
	}
}

// What does not say clearly what is to be done to which pod does nothing. The
// words are kube-apiserver's.
func TestBodiesThatAreNotMeant(t *testing.T) {
	e := world(t)
	const (
		unrecognized = "the object provided is unrecognized (must be of type "
		otherSpace   = "the namespace of the provided object does not match the namespace sent on the request"
		invalid      = `DeleteOptions.meta.k8s.io "" is invalid: `
	)
	for _, c := range []struct{ subresource, body, want string }{
		{"binding", ``, unrecognized + "Binding): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"},
		{"binding", `{`, unrecognized + "Binding): couldn't get version/kind; json parse error: unexpected end of JSON input ({)"},
		{"binding", `not json`, unrecognized + "Binding): couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting 'u') (6e6f74206a736f6e)"},
		{"binding", "metadata: {name: p}\ntarget: {name: n}", unrecognized + "Binding): couldn't get version/kind; json parse error: invalid character 'm' looking for beginning of value ("},
		{"binding", "k8s\x00\xff", unrecognized + "Binding): unexpected EOF (6b387300ff)"},
		{"binding", "k8s\x00", unrecognized + "Binding): empty body (6b387300)"},
		{"binding", `null`, "name in URL does not match name in Binding object"},
		{"binding", `{"target":{"kind":"Node","name":"n"}}`, "name in URL does not match name in Binding object"},
		{"binding", `{"metadata":{"name":"p"},"Target":{"kind":"Node","name":"n"}}`, "the target of a binding is a Node that has a name"},
		{"binding", `{"metadata":{"name":"p","namespace":"other"},"target":{"name":"n"}}`, otherSpace},
		{"binding", `{"metadata":{"name":"p"},"target":{"name":false}}`, `Binding in version "v1" cannot be handled as a Binding: json: cannot unmarshal bool into Go struct field ObjectReference.target.name of type string`},
		{"binding", `{"apiVersion":"v2","kind":"Binding","metadata":{"name":"p"},"target":{"name":"n"}}`, `Binding in version "v2" cannot be handled as a Binding: no kind "Binding" is registered for version "v2"`},
		{"eviction", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`, `Pod in version "v1" cannot be handled as a Eviction: no kind "Pod" is registered for version "v1"`},
		{"eviction", `{}`, "name in URL does not match name in Eviction object"},
		{"eviction", `{"metadata":{"name":"p","namespace":"other"}}`, otherSpace},
		{"eviction", `{"metadata":{"name":"p"},"deleteOptions":{"dryRun":["None"]}}`, invalid + `dryRun: Unsupported value: ["None"]: supported values: "All"`},
		{"eviction", `{"metadata":{"name":"p"},"deleteOptions":{"propagationPolicy":"X"}}`, invalid + `propagationPolicy: Unsupported value: "X": supported values: "Foreground", "Background", "Orphan", "nil"`},
	} {
		if got := ask(t, e, c.subresource, "p", c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.subresource, c.body, got, c.want)
		}
	}
	if p := look(t, e, kind, "p"); p.GetDeletionTimestamp() != nil {
		t.Errorf("%v", p.Object)
	}
}

// However many pods are evicted at once, no more go than the budget allows.
func TestEvictionsSpendTheBudget(t *testing.T) {
	const pods, allowed = 8, 3
	e := world(t)
	for i := range pods {
		name := fmt.Sprint("r", i)
		create(t, e, kind, "metadata: {name: "+name+", namespace: ns, labels: {app: r}}\nspec: {containers: [{name: c, image: i}]}")
		setStatus(t, e, kind, name, map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}})
	}
	create(t, e, budgets, "metadata: {name: b, namespace: ns}\nspec: {minAvailable: 5, selector: {matchLabels: {app: r}}}")
	setStatus(t, e, budgets, "b", budgetOf(allowed))
	var all sync.WaitGroup
	var gone atomic.Int32
	for i := range pods {
		all.Go(func() {
			switch got := ask(t, e, "eviction", fmt.Sprint("r", i), evict(fmt.Sprint("r", i))); {
			case got == "":
				gone.Add(1)
			case !strings.Contains(got, "violate the pod's disruption budget"):
				t.Error(got)
			}
		})
	}
	all.Wait()
	b := look(t, e, budgets, "b")
	left, _, _ := unstructured.NestedInt64(b.Object, "status", "disruptionsAllowed")
	disrupted, _, _ := unstructured.NestedMap(b.Object, "status", "disruptedPods")
	conditions, _, _ := unstructured.NestedSlice(b.Object, "status", "conditions")
	if gone.Load() != allowed || left != 0 || len(disrupted) != allowed || len(conditions) != 1 {
		t.Errorf("%d of %d went, and the budget is %v", gone.Load(), allowed, b.Object["status"])
	}
}

func TestBudgetsOfPodsThatAreNotReady(t *testing.T) {
	e := world(t)
	create(t, e, budgets, "metadata: {name: b, namespace: ns}\nspec: {minAvailable: 1, selector: {matchLabels: {app: a}}}")
	setStatus(t, e, budgets, "b", map[string]any{"observedGeneration": int64(1), "disruptionsAllowed": int64(0), "currentHealthy": int64(0), "desiredHealthy": int64(1), "expectedPods": int64(1)})
	create(t, e, kind, "metadata: {name: pending, namespace: ns, labels: {app: a}}\nspec: {containers: [{name: c, image: i}]}")
	if got := ask(t, e, "eviction", "pending", evict("pending")); got != "" {
		t.Errorf("a pod that has not begun: %s", got)
	}
	setStatus(t, e, kind, "p", map[string]any{"phase": "Running"})
	if got := ask(t, e, "eviction", "p", evict("p")); !strings.Contains(got, "violate") {
		t.Errorf("an unready pod of few: %s", got)
	}
	b := look(t, e, budgets, "b")
	b.Object["spec"].(map[string]any)["unhealthyPodEvictionPolicy"] = string(policyv1.AlwaysAllow)
	if _, err := e.Update(t.Context(), budgets, "", b); err != nil {
		t.Fatal(err)
	}
	create(t, e, budgets, "metadata: {name: c, namespace: ns}\nspec: {minAvailable: 1, selector: {matchLabels: {app: a}}}")
	if got := ask(t, e, "eviction", "p", evict("p")); !strings.Contains(got, "more than one PodDisruptionBudget") {
		t.Errorf("of two budgets: %s", got)
	}
	if err := e.Delete(t.Context(), budgets, "ns", "c", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, e, "eviction", "p", evict("p")); got != "" {
		t.Errorf("an unready pod that may always go: %s", got)
	}
}

func budgetOf(allowed int64) map[string]any {
	return map[string]any{"observedGeneration": int64(1), "disruptionsAllowed": allowed, "currentHealthy": int64(8), "desiredHealthy": int64(5), "expectedPods": int64(8)}
}

func look(t *testing.T, e *realengine.Engine, gr schema.GroupResource, name string) *unstructured.Unstructured {
	t.Helper()
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	u, err := e.Get(t.Context(), gr, "ns", name)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func setStatus(t *testing.T, e *realengine.Engine, gr schema.GroupResource, name string, status map[string]any) {
	t.Helper()
	u := look(t, e, gr, name)
	u.Object["status"] = status
	if _, err := e.Update(t.Context(), gr, "status", u); err != nil {
		t.Fatal(err)
	}
	look(t, e, gr, name)
}
