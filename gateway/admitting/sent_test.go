package admitting

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

func (w *world) sub(plural, name, subresource string) resource.Target {
	t := w.target("", plural, "", name)
	t.Subresource = subresource
	return t
}

// An eviction is the creation of an Eviction, whoever does what it wants; it is
// refused and changed as what is stored is, and whose its fields are is told.
func TestWhatIsSentToASubresourceIsAskedAbout_WP02(t *testing.T) {
	w := newWorld(t)
	w.configure("mutating", "m", "", "v1", "pods/eviction", `"namespaceSelector":{"matchLabels":{"team":"x"}},`)
	w.configure("validating", "v", "", "v1", "pods/eviction", `"matchConditions":[{"name":"evictions","expression":"request.kind.kind == 'Eviction' && object.metadata.labels.seen == 'yes'"}],`)
	w.answer = func(module string, request map[string]any) string {
		if module == "m" {
			return patch(`[{"op":"add","path":"/metadata/labels","value":{"seen":"yes"}},{"op":"add","path":"/unknown","value":1}]`)
		}
		if field(request, "object", "metadata", "name") == "kept" {
			return `"allowed":false,"status":{"message":"it stays"}`
		}
		return `"allowed":true`
	}
	kind := policyv1.SchemeGroupVersion.WithKind("Eviction")
	for name, want := range map[string]string{"p": "", "kept": `admission webhook "v.example.com" denied the request: it stays`} {
		w.sent = nil
		dry := alice
		dry.DryRun = true
		sent := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{"a": "b"}}}
		err := w.Judge(t.Context(), w.sub("pods", name, "eviction"), resource.Sent{Kind: kind, Object: sent}, dry)
		if want == "" && (err != nil || sent.Labels["seen"] != "yes") || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, %v", name, sent, err)
		}
		if want == "" && (len(sent.ManagedFields) != 1 || sent.ManagedFields[0].Manager != "m" || sent.ManagedFields[0].Subresource != "eviction" || sent.ManagedFields[0].APIVersion != "policy/v1") {
			t.Errorf("managed by %v", sent.ManagedFields)
		}
		if len(w.sent) != 2 {
			t.Fatalf("%s: %d calls", name, len(w.sent))
		}
		got := w.sent[1]
		for path, want := range map[string]string{
			"operation": "CREATE", "name": name, "namespace": "default", "subResource": "eviction", "userInfo.username": "alice", "dryRun": "true", "oldObject": "<nil>",
			"kind": "map[group:policy kind:Eviction version:v1]", "resource": "map[group: resource:pods version:v1]", "options.kind": "CreateOptions",
		} {
			if is := fmt.Sprint(field(got, strings.Split(path, ".")...)); is != want {
				t.Errorf("%s is %s, want %s", path, is, want)
			}
		}
	}
	// Whoever is about pods alone is not asked.
	w.sent = nil
	if err := w.Judge(t.Context(), w.sub("pods", "p", "binding"), resource.Sent{Kind: corev1.SchemeGroupVersion.WithKind("Binding"), Object: &corev1.Binding{}}, alice); err != nil || len(w.sent) != 0 {
		t.Errorf("%v, %d calls", err, len(w.sent))
	}
}

// What a webhook makes of an object has to be one of its kind.
func TestWhatIsSentStaysWhatItIs_WP02(t *testing.T) {
	w := newWorld(t)
	w.configure("mutating", "m", "", "v1", "pods/*", "")
	for value, want := range map[string]string{
		`[{"op":"add","path":"/target/name","value":1}]`:                            "Internal error occurred: json: cannot unmarshal number into Go struct field ObjectReference.target.name of type string",
		`[{"op":"replace","path":"/kind","value":"Pod"}]`:                           "attempted to change kind from Binding to Pod",
		`[{"op":"add","path":"/metadata/managedFields","value":[{"manager":"x"}]}]`: "",
	} {
		w.answer = func(string, map[string]any) string { return patch(value) }
		sent := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Name: "n"}}
		var warned string
		o := alice
		o.Warn = func(text string) { warned = text }
		err := w.Judge(t.Context(), w.sub("pods", "p", "binding"), resource.Sent{Kind: corev1.SchemeGroupVersion.WithKind("Binding"), Object: sent}, o)
		if want == "" && (err != nil || !strings.Contains(warned, "managedFields was in an invalid state") || len(sent.ManagedFields) != 1 || sent.ManagedFields[0].Manager != "m") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, warned %q, %v", value, err, warned, sent.ManagedFields)
		}
	}
	// The options of a connection are changed, too.
	w.answer = func(string, map[string]any) string {
		return patch(`[{"op":"add","path":"/command","value":["true"]}]`)
	}
	sent := &corev1.PodExecOptions{Command: []string{"sh"}}
	err := w.Judge(t.Context(), w.sub("pods", "p", "exec"), resource.Sent{Kind: corev1.SchemeGroupVersion.WithKind("PodExecOptions"), Object: sent, Connects: true}, alice)
	last := w.sent[len(w.sent)-1]
	if err != nil || fmt.Sprint(sent.Command) != "[true]" || last["operation"] != "CONNECT" || last["options"] != nil || field(last, "object", "metadata") != nil {
		t.Errorf("%v %v %v", sent.Command, err, last)
	}
}

// Selectors of objects see what admission sees: a Scale has no labels but those
// that the client sent, whatever it scales, and a Binding its own.
func TestObjectSelectorsSeeTheObjectOfTheRequest_WP02(t *testing.T) {
	w := newWorld(t)
	w.create("example.com", "crontabs", "v1", `{"metadata":{"name":"a","labels":{"skip":"x"}},"host":"h","spec":{"replicas":3}}`)
	for _, kind := range []string{"mutating", "validating"} {
		w.configure(kind, kind+"-without", "*", "v1", "*/*", `"objectSelector":{"matchExpressions":[{"key":"skip","operator":"DoesNotExist"}]},`)
		w.configure(kind, kind+"-with", "*", "v1", "*/*", `"objectSelector":{"matchLabels":{"skip":"x"}},`)
	}
	var asked []string
	w.answer = func(module string, _ map[string]any) string {
		asked = append(asked, module)
		return `"allowed":true`
	}
	scale := w.target("example.com", "crontabs", "v1", "a")
	scale.Subresource = "scale"
	patch := func(body string) func() error {
		return func() error {
			_, err := w.Patch(t.Context(), scale, "application/merge-patch+json", []byte(body), alice)
			return err
		}
	}
	judge := func(subresource string, s resource.Sent) func() error {
		return func() error { return w.Judge(t.Context(), w.sub("pods", "p", subresource), s, alice) }
	}
	binding := func(labels map[string]string) resource.Sent {
		return resource.Sent{Kind: corev1.SchemeGroupVersion.WithKind("Binding"), Object: &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: labels}}}
	}
	for _, c := range []struct {
		what string
		do   func() error
		want string
	}{
		{"a scale", patch(`{"spec":{"replicas":4}}`), "mutating-without validating-without"},
		// The Scale that there is has none, which is enough for the first; of the new one
		// only the number is left when it is validated.
		{"a scale with a label", patch(`{"metadata":{"labels":{"skip":"x"}},"spec":{"replicas":5}}`), "mutating-with mutating-without validating-without"},
		{"a binding", judge("binding", binding(nil)), "mutating-without validating-without"},
		{"a binding with a label", judge("binding", binding(map[string]string{"skip": "x"})), "mutating-with validating-with"},
		{"a connection", judge("exec", resource.Sent{Kind: corev1.SchemeGroupVersion.WithKind("PodExecOptions"), Object: &corev1.PodExecOptions{}, Connects: true}), ""},
	} {
		w.settled() // a write that meets a newer state asks again
		asked = nil
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := strings.Join(asked, " "); got != c.want {
			t.Errorf("%s: asked %q, want %q", c.what, got, c.want)
		}
	}
}

// Questions that are answered and not kept are judged before, whichever namespace
// they are about.
func TestReviewsAreAskedAbout_WP02(t *testing.T) {
	w := newWorld(t)
	w.configure("mutating", "m", "authorization.k8s.io", "v1", "*", "")
	w.configure("validating", "v", "authorization.k8s.io", "v1", "*", "")
	w.answer = func(module string, request map[string]any) string {
		switch {
		case module == "m":
			return patch(`[{"op":"replace","path":"/spec/user","value":"bob"}]`)
		case field(request, "object", "spec", "user") == "bob":
			return `"allowed":true`
		}
		return `"allowed":false`
	}
	target := w.target("authorization.k8s.io", "localsubjectaccessreviews", "", "")
	target.Namespace = "absent"
	body := `{"metadata":{"uid":"mine"},"spec":{"user":"alice","resourceAttributes":{"namespace":"NS","verb":"get","resource":"pods"}},"status":{"allowed":true}}`
	for namespace, want := range map[string]string{"absent": "", "other": "must match metadata.namespace"} {
		var answered string
		out, err := w.Review(t.Context(), target, []byte(strings.Replace(body, "NS", namespace, 1)), alice, func(tree map[string]any) error {
			answered = fmt.Sprint(field(tree, "spec", "user"), field(tree, "status", "allowed"))
			tree["status"] = map[string]any{"allowed": false}
			return nil
		})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || answered != "" {
				t.Errorf("%v", err)
			}
			continue
		}
		if err != nil || answered != "bob<nil>" || !strings.Contains(string(out.Object), `"manager":"m"`) || strings.Contains(string(out.Object), "mine") || !strings.Contains(string(out.Object), `"allowed":false`) {
			t.Errorf("answered %q: %s, %v", answered, out.Object, err)
		}
	}
	if len(w.sent) != 3 { // what is invalid is not validated by others
		t.Errorf("%d calls", len(w.sent))
	}
}
