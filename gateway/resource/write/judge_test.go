package write

import (
	"context"
	"reflect"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// What is sent and not stored is shown to admission as an object, and is what admission
// made of it afterwards, its owners too.
func TestWhatIsSentIsShownAndTold(t *testing.T) {
	seconds := int64(600)
	sent := &authenticationv1.TokenRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "client"}}},
		Spec:       authenticationv1.TokenRequestSpec{Audiences: []string{"x"}, ExpirationSeconds: &seconds},
	}
	s := resource.Sent{Kind: authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"), Object: sent}
	n := &next{}
	if err := show(s, n); err != nil {
		t.Fatal(err)
	}
	spec, _ := n.object.Object["spec"].(map[string]any)
	if n.object.GetKind() != "TokenRequest" || n.object.GetAPIVersion() != "authentication.k8s.io/v1" || !reflect.DeepEqual(spec["audiences"], []any{"x"}) || sent.ManagedFields != nil {
		t.Errorf("shown %v of %v", n.object, sent)
	}
	if string(n.owners.sent) != `[{"manager":"client"}]` {
		t.Errorf("its owners are %s", n.owners.sent)
	}
	spec["audiences"], n.owners.next = []any{"x", "y"}, []byte(`[{"manager":"webhook"}]`)
	if err := tell(s, n); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(sent.Spec.Audiences, []string{"x", "y"}) || *sent.Spec.ExpirationSeconds != seconds || len(sent.ManagedFields) != 1 || sent.ManagedFields[0].Manager != "webhook" {
		t.Errorf("told %v", sent)
	}
	for _, odd := range []func(){func() { n.owners.next = []byte(`{`) }, func() { n.object.Object["spec"] = "odd" }} {
		odd()
		if err := tell(s, n); err == nil {
			t.Errorf("%v is told", n.object)
		}
	}
}

// What cannot be shown to admission is refused before anybody is asked.
func TestWhatCannotBeShownIsRefused(t *testing.T) {
	w, l := watched(t)
	asked := 0
	l.mutate = func(context.Context, admission.Attributes) error { asked++; return nil }
	l.validate = func(context.Context, admission.Attributes) error { asked++; return nil }
	kind := authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")
	odd := &struct{ Never chan int }{Never: make(chan int)}
	if err := w.Judge(w.ctx(), w.at(v1, "one"), resource.Sent{Kind: kind, Object: odd}, resource.WriteOptions{}); !apierrors.IsInternalError(err) || asked != 0 {
		t.Errorf("%v after %d questions", err, asked)
	}
}

// Whose the fields of a Binding are is told, whether it is made at its pod or among
// the bindings.
func TestWhatIsSentIsOwnedWhereverItIsMade(t *testing.T) {
	w := newWorld(t)
	at := w.builtin("pods", "default", "one")
	at.Subresource = "binding"
	for _, target := range []resource.Target{at, w.builtin("bindings", "default", "")} {
		sent := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "default"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
		o := resource.WriteOptions{Caller: resource.Caller{FieldManager: "m"}}
		if err := w.Judge(w.ctx(), target, resource.Sent{Kind: corev1.SchemeGroupVersion.WithKind("Binding"), Object: sent}, o); err != nil {
			t.Fatal(err)
		}
		if f := sent.ManagedFields; len(f) != 1 || f[0].Manager != "m" || f[0].Subresource != target.Subresource || f[0].APIVersion != "v1" || f[0].FieldsV1.GetRawString() != `{"f:target":{}}` {
			t.Errorf("made at %s/%s: %v", target.Resource.Def.Plural, target.Subresource, f)
		}
	}
}
