package pod

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Admission is asked once about a Binding and an Eviction, and about nothing that
// follows from it but what another object, the budget, loses.
func TestAdmissionIsAskedOnceAboutWhatIsSent_WP02(t *testing.T) {
	asked := func(what string) []string { return []string{"mutating " + what, "validating " + what} }
	for _, c := range []struct {
		name, subresource, body string
		prepare                 func(e *realengine.Engine)
		want                    []string
	}{
		{"a binding", "binding", onNode, func(*realengine.Engine) {}, asked("CREATE pods/binding Binding")},
		{"an eviction of a pod that has not begun", "eviction", evict("p"), func(*realengine.Engine) {}, asked("CREATE pods/eviction Eviction")},
		{"an eviction of a pod without a budget", "eviction", evict("p"), func(e *realengine.Engine) {
			setStatus(t, e, kind, "p", map[string]any{"phase": "Running"})
		}, asked("CREATE pods/eviction Eviction")},
		{"an eviction that costs", "eviction", evict("p"), func(e *realengine.Engine) {
			setStatus(t, e, kind, "p", map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}})
			create(t, e, budgets, "metadata: {name: b, namespace: ns}\nspec: {minAvailable: 5, selector: {matchLabels: {app: a}}}")
			setStatus(t, e, budgets, "b", budgetOf(1))
		}, append(asked("CREATE pods/eviction Eviction"), asked("UPDATE poddisruptionbudgets/status PodDisruptionBudget")...)},
	} {
		s := &stage{}
		e := judged(t, s)
		c.prepare(e)
		s.asked = nil
		if got := ask(t, e, c.subresource, "p", c.body); got != "" {
			t.Errorf("%s: %s", c.name, got)
		}
		if got, want := strings.Join(s.asked, "\n"), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s: asked\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// What mutating admission makes of a Binding counts, and what it makes of it is
// validated.
func TestAdmissionChangesWhatIsSent_WP02(t *testing.T) {
	to := ""
	s := &stage{change: func(w admission.Attributes) error {
		if w.GetSubresource() != "binding" {
			return nil
		}
		tree, err := w.GetObjectAt(t.Context(), "v1")
		if err != nil {
			return err
		}
		tree = object.Clone(tree)
		if err := unstructured.SetNestedField(tree, to, "target", "name"); err != nil {
			return err
		}
		return w.Replace(t.Context(), "v1", tree)
	}}
	e := judged(t, s)
	if got := ask(t, e, "binding", "p", onNode); got != "the target of a binding is a Node that has a name" {
		t.Error(got)
	}
	to = "another"
	if got := ask(t, e, "binding", "p", onNode); got != "" {
		t.Error(got)
	}
	if node, _, _ := unstructured.NestedString(look(t, e, kind, "p").Object, "spec", "nodeName"); node != "another" {
		t.Errorf("it is on %q", node)
	}
	s.refuse = func(w admission.Attributes) error {
		if w.GetKind().Kind != "Eviction" {
			return nil
		}
		return errors.New("not on a Sunday")
	}
	if got := ask(t, e, "eviction", "p", evict("p")); got != "not on a Sunday" {
		t.Error(got)
	}
	look(t, e, kind, "p")
}

// A connection is judged by its options, before the pod is looked at.
func TestAdmissionIsAskedAboutConnections_WP02(t *testing.T) {
	s := &stage{}
	e := judged(t, s)
	s.asked = nil
	if got := ask(t, e, "exec", "none", ""); got != `pods "none" not found` {
		t.Error(got)
	}
	if got, want := strings.Join(s.asked, ", "), "mutating CONNECT pods/exec PodExecOptions, validating CONNECT pods/exec PodExecOptions"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	s.refuse = func(admission.Attributes) error { return errors.New("no shells") }
	if got := ask(t, e, "attach", "none", ""); got != "no shells" {
		t.Error(got)
	}
}

// Whose fields a pod has, and how often its spec was changed by who writes it, is
// not what a binding or an eviction is about.
func TestABindingOwnsNothing(t *testing.T) {
	e := world(t)
	before := look(t, e, kind, "p")
	if got := ask(t, e, "binding", "p", `{"metadata":{"name":"p","labels":{"app":"b","zone":"z"},"annotations":{"a":"b"}},"target":{"name":"n"}}`); got != "" {
		t.Fatal(got)
	}
	after := look(t, e, kind, "p")
	if len(after.GetManagedFields()) != len(before.GetManagedFields()) || after.GetGeneration() != before.GetGeneration() {
		t.Errorf("%v", after.Object["metadata"])
	}
	if l := after.GetLabels(); l["app"] != "b" || l["zone"] != "z" || after.GetAnnotations()["a"] != "b" {
		t.Errorf("%v", after.Object["metadata"])
	}
	if got := ask(t, e, "binding", "p", `{"metadata":{"name":"p","labels":{"not a":"label"}},"target":{"name":"n"}}`); got == "" {
		t.Error("a label that is none")
	}
}

// Who looks at a pod that goes is told why.
func TestAnEvictedPodSaysWhy(t *testing.T) {
	e := world(t)
	create(t, e, kind, "metadata: {name: held, namespace: ns, finalizers: [example.com/f]}\nspec: {containers: [{name: c, image: i}]}")
	for range 2 { // the second finds the pod going
		if got := ask(t, e, "eviction", "held", evict("held")); got != "" {
			t.Fatal(got)
		}
	}
	p, err := typed(look(t, e, kind, "held"))
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Status.Conditions; p.DeletionTimestamp == nil || len(c) != 1 || c[0].Type != corev1.DisruptionTarget || c[0].Status != corev1.ConditionTrue ||
		c[0].Reason != "EvictionByEvictionAPI" || c[0].Message != "Eviction API: evicting" {
		t.Errorf("%+v %+v", p.ObjectMeta, p.Status)
	}
}

// meddler does something the first time that a pod is edited or removed, while
// that is under way.
type meddler struct {
	Objects
	editing, edited, removing func()
}

func (m *meddler) Edit(ctx context.Context, gr schema.GroupResource, subresource, namespace, name string, e resource.Edit) (*unstructured.Unstructured, error) {
	change := e.Change
	e.Change = func(u *unstructured.Unstructured) error {
		err := change(u)
		once(&m.editing)
		return err
	}
	defer func() { once(&m.edited) }()
	return m.Objects.Edit(ctx, gr, subresource, namespace, name, e)
}

func (m *meddler) Remove(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions, may func(*unstructured.Unstructured) error) error {
	return m.Objects.Remove(ctx, gr, namespace, name, o, func(u *unstructured.Unstructured) error {
		err := may(u)
		once(&m.removing)
		return err
	})
}

func once(f *func()) {
	if do := *f; do != nil {
		*f = nil
		do()
	}
}

// Neither is refused because somebody else writes the pod at that moment, unless
// what is written makes a difference.
func TestOthersWriteThePodMeanwhile(t *testing.T) {
	e := world(t)
	create(t, e, budgets, "metadata: {name: b, namespace: ns}\nspec: {minAvailable: 5, selector: {matchLabels: {app: r}}}")
	setStatus(t, e, budgets, "b", budgetOf(0))
	annotates := func(name string) func() {
		return func() {
			u := look(t, e, kind, name)
			u.SetAnnotations(map[string]string{"seen": u.GetResourceVersion()})
			if _, err := e.Update(t.Context(), kind, "", u); err != nil {
				t.Error(err)
			}
		}
	}
	runs := func(name string) func() {
		return func() {
			setStatus(t, e, kind, name, map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}})
		}
	}
	binds := func(name string) func() {
		return func() {
			if got := ask(t, e, "binding", name, strings.Replace(onNode, `"p"`, `"`+name+`"`, 1)); got != "" {
				t.Error(got)
			}
		}
	}
	nothing := func(string) func() { return nil }
	for n, c := range []struct {
		what, subresource string
		editing, removing func(name string) func()
		want              string
	}{
		{"a binding", "binding", annotates, nothing, ""},
		{"another binding", "binding", binds, nothing, "is already assigned to node"},
		{"an eviction", "eviction", annotates, annotates, ""},
		{"an eviction of a pod that begins", "eviction", runs, nothing, "violate the pod's disruption budget"},
		{"an eviction of a pod that begins when it is deleted", "eviction", nothing, runs, "violate the pod's disruption budget"},
	} {
		name := "r" + string(rune('0'+n))
		create(t, e, kind, "metadata: {name: "+name+", namespace: ns, labels: {app: r}}\nspec: {containers: [{name: c, image: i}]}")
		m := &meddler{editing: c.editing(name), removing: c.removing(name)}
		body := map[string]string{"binding": strings.Replace(onNode, `"p"`, `"`+name+`"`, 1), "eviction": evict(name)}[c.subresource]
		as := func(caller resource.Caller) Objects { m.Objects = e.Client.As(caller); return m }
		got := askAs(t, e, as, c.subresource, name, body, resource.WriteOptions{Caller: resource.Component("test")})
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		if m.editing != nil || m.removing != nil {
			t.Errorf("%s: it was not disturbed", c.what)
		}
	}
}

// Who names a revision means that one.
func TestARevisionThatIsNamedCounts(t *testing.T) {
	e := world(t)
	is := look(t, e, kind, "p").GetResourceVersion()
	for _, c := range []struct{ revision, want string }{{"1", "the ResourceVersion in the precondition (1) does not match"}, {is, ""}} {
		got := ask(t, e, "eviction", "p", `{"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"resourceVersion":"`+c.revision+`"}}}`)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.revision, got)
		}
	}
}

// A pod that is not ready goes freely for as long as it is not.
func TestAPodThatIsReadyByNow(t *testing.T) {
	e := world(t)
	create(t, e, budgets, "metadata: {name: b, namespace: ns}\nspec: {minAvailable: 5, selector: {matchLabels: {app: a}}}")
	setStatus(t, e, budgets, "b", budgetOf(0))
	setStatus(t, e, kind, "p", map[string]any{"phase": "Running"})
	m := &meddler{Objects: e.Client, editing: func() {
		setStatus(t, e, kind, "p", map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}})
	}}
	got := askAs(t, e, func(resource.Caller) Objects { return m }, "eviction", "p", evict("p"), resource.WriteOptions{Caller: resource.Component("test")})
	if got != "Cannot evict pod as it would violate the pod's disruption budget." {
		t.Error(got)
	}
	if p := look(t, e, kind, "p"); p.GetDeletionTimestamp() != nil {
		t.Errorf("%v", p.Object)
	}
}

// What is refused before the pod is marked is refused, whatever the pod is afterwards.
func TestAPodThatWasReadyForAMoment(t *testing.T) {
	e := world(t)
	create(t, e, budgets, "metadata: {name: b, namespace: ns}\nspec: {minAvailable: 5, selector: {matchLabels: {app: a}}}")
	setStatus(t, e, budgets, "b", budgetOf(0))
	becomes := func(ready string) func() {
		return func() {
			setStatus(t, e, kind, "p", map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": ready}}})
		}
	}
	becomes("False")()
	m := &meddler{Objects: e.Client, editing: becomes("True"), edited: becomes("False")}
	got := askAs(t, e, func(resource.Caller) Objects { return m }, "eviction", "p", evict("p"), resource.WriteOptions{Caller: resource.Component("test")})
	if got != "Cannot evict pod as it would violate the pod's disruption budget." || m.edited != nil {
		t.Errorf("%q", got)
	}
	if p := look(t, e, kind, "p"); p.GetDeletionTimestamp() != nil {
		t.Errorf("%v", p.Object)
	}
}
