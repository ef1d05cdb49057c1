package core

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// controllers are a ReplicationController that is fine, with a change.
func controllers(change func(*corev1.ReplicationController)) *corev1.ReplicationController {
	replicas, priority := int32(1), int32(1)
	rc := &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: corev1.ReplicationControllerSpec{Replicas: &replicas, Template: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Tolerations:        []corev1.Toleration{{Key: "a"}},
			EvictionResponders: []corev1.EvictionResponder{{Name: "a.example.com/b", Priority: &priority}},
		}}},
	}
	change(rc)
	return rc
}

// said are the fields of what the rules say, each with its kind.
func said(t *testing.T, op operation.Type, subresource []string, obj, old runtime.Object) string {
	t.Helper()
	s := runtime.NewScheme()
	if err := AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	o := operation.Operation{Type: op, Request: operation.Request{Subresources: subresource}}
	var out []string
	if op == operation.Create {
		for _, e := range s.Validate(t.Context(), o.Options, obj, subresource...) {
			out = append(out, fmt.Sprintf("%s %s", e.Field, e.Type))
		}
		return strings.Join(out, ", ")
	}
	for _, e := range s.ValidateUpdate(t.Context(), o.Options, obj, old, subresource...) {
		out = append(out, fmt.Sprintf("%s %s", e.Field, e.Type))
	}
	return strings.Join(out, ", ")
}

// What is wrong is told of a new object, and of one that changes only where it changes.
func TestWhatIsWrongIsToldOfWhatChanges_DV01(t *testing.T) {
	pod := func(rc *corev1.ReplicationController) *corev1.PodSpec { return &rc.Spec.Template.Spec }
	for what, c := range map[string]struct {
		change func(*corev1.ReplicationController)
		want   string
	}{
		"nothing":      {func(*corev1.ReplicationController) {}, ""},
		"no name":      {func(rc *corev1.ReplicationController) { rc.Name = "" }, ""},
		"name":         {func(rc *corev1.ReplicationController) { rc.Name = "A" }, "metadata.name Invalid value"},
		"no replicas":  {func(rc *corev1.ReplicationController) { rc.Spec.Replicas = nil }, "spec.replicas Required value"},
		"replicas":     {func(rc *corev1.ReplicationController) { *rc.Spec.Replicas = -1 }, "spec.replicas Invalid value"},
		"seconds":      {func(rc *corev1.ReplicationController) { rc.Spec.MinReadySeconds = -1 }, "spec.minReadySeconds Invalid value"},
		"no template":  {func(rc *corev1.ReplicationController) { rc.Spec.Template = nil }, ""},
		"toleration":   {func(rc *corev1.ReplicationController) { pod(rc).Tolerations[0].Key = "a b" }, "spec.template.spec.tolerations[0].key Invalid value"},
		"of all keys":  {func(rc *corev1.ReplicationController) { pod(rc).Tolerations[0].Key = "" }, ""},
		"no tolerance": {func(rc *corev1.ReplicationController) { pod(rc).Tolerations = nil }, ""},
		"no responder": {func(rc *corev1.ReplicationController) { pod(rc).EvictionResponders = nil }, ""},
		"nameless":     {func(rc *corev1.ReplicationController) { pod(rc).EvictionResponders[0].Name = "" }, "spec.template.spec.evictionResponders[0].name Required value"},
		"plain":        {func(rc *corev1.ReplicationController) { pod(rc).EvictionResponders[0].Name = "b" }, "spec.template.spec.evictionResponders[0].name Invalid value"},
		"no priority":  {func(rc *corev1.ReplicationController) { pod(rc).EvictionResponders[0].Priority = nil }, "spec.template.spec.evictionResponders[0].priority Required value"},
		"low":          {func(rc *corev1.ReplicationController) { *pod(rc).EvictionResponders[0].Priority = -1 }, "spec.template.spec.evictionResponders[0].priority Invalid value"},
		"high":         {func(rc *corev1.ReplicationController) { *pod(rc).EvictionResponders[0].Priority = 100001 }, "spec.template.spec.evictionResponders[0].priority Invalid value"},
		"twice": {func(rc *corev1.ReplicationController) {
			pod(rc).EvictionResponders = append(pod(rc).EvictionResponders, pod(rc).EvictionResponders[0])
		}, "spec.template.spec.evictionResponders[1] Duplicate value"},
		"many": {func(rc *corev1.ReplicationController) {
			pod(rc).EvictionResponders = make([]corev1.EvictionResponder, 11)
		}, "spec.template.spec.evictionResponders Too many"},
	} {
		good, odd := controllers(func(*corev1.ReplicationController) {}), controllers(c.change)
		if got := said(t, operation.Create, nil, odd, nil); got != c.want {
			t.Errorf("new with %s: %s", what, got)
		}
		for _, sub := range [][]string{nil, {"status"}, {"scale"}} {
			if got := said(t, operation.Update, sub, odd, good); got != c.want {
				t.Errorf("%s came, through %q: %s", what, sub, got)
			}
			if got := said(t, operation.Update, sub, controllers(c.change), odd); got != "" {
				t.Errorf("%s was there, through %q: %s", what, sub, got)
			}
		}
	}
	rc, service := controllers(func(*corev1.ReplicationController) {}), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	for _, sub := range []string{"status", "proxy"} {
		if got := said(t, operation.Update, []string{sub}, service, service.DeepCopy()); got != "" {
			t.Errorf("a service through %s: %s", sub, got)
		}
	}
	if got := said(t, operation.Update, []string{"odd"}, rc, rc); got != "<nil> Internal error" {
		t.Errorf("through what there is not: %q", got)
	}
	if got := said(t, operation.Update, []string{"odd"}, service, service); got != "<nil> Internal error" {
		t.Errorf("a service through what there is not: %q", got)
	}
}
