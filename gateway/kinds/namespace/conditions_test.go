package namespace

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

func at(second int) metav1.Time { return metav1.NewTime(time.Unix(int64(second), 0)) }

func items(n int, finalizers ...string) (all []metav1.PartialObjectMetadata) {
	for range n {
		all = append(all, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Finalizers: finalizers}})
	}
	return all
}

func find(t *testing.T, s *corev1.NamespaceStatus, c corev1.NamespaceConditionType) corev1.NamespaceCondition {
	t.Helper()
	var found []corev1.NamespaceCondition
	for _, have := range s.Conditions {
		if have.Type == c {
			found = append(found, have)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d conditions %s", len(found), c)
	}
	return found[0]
}

func TestConditions(t *testing.T) {
	tabs := controller.Scope{GroupResource: schema.GroupResource{Group: "example.com", Resource: "tabs"}, Namespace: "ns"}
	maps := controller.Scope{GroupResource: schema.GroupResource{Resource: "configmaps"}, Namespace: "ns"}
	left := &remains{parts: []part{{tabs, nil, items(2, "b", "a")}, {maps, nil, items(1, "a")}}, failures: []error{errors.New("z"), errors.New("y")}}
	status := &corev1.NamespaceStatus{}
	if !setConditions(status, left, at(1)) || len(status.Conditions) != 5 {
		t.Fatalf("%+v", status.Conditions)
	}
	for c, want := range map[corev1.NamespaceConditionType]string{
		corev1.NamespaceDeletionContentFailure: "Failed to delete all resource types, 2 remaining: y, z",
		corev1.NamespaceContentRemaining:       "Some resources are remaining: configmaps. has 1 resource instances, tabs.example.com has 2 resource instances",
		corev1.NamespaceFinalizersRemaining:    "Some content in the namespace has finalizers remaining: a in 3 resource instances, b in 2 resource instances",
	} {
		if got := find(t, status, c); got.Status != corev1.ConditionTrue || got.Message != want || !got.LastTransitionTime.Equal(new(at(1))) {
			t.Errorf("%s: %+v", c, got)
		}
	}
	// The same again changes nothing; another message keeps the time, another
	// status does not.
	if setConditions(status, left, at(2)) {
		t.Error("changed by what there was")
	}
	if !setConditions(status, &remains{parts: left.parts[:1], failures: left.failures}, at(3)) {
		t.Error("another message is no change")
	}
	if got := find(t, status, corev1.NamespaceContentRemaining); !got.LastTransitionTime.Equal(new(at(1))) || got.Message != "Some resources are remaining: tabs.example.com has 2 resource instances" {
		t.Errorf("%+v", got)
	}
	if !setConditions(status, &remains{}, at(4)) {
		t.Error("another status is no change")
	}
	if got := find(t, status, corev1.NamespaceContentRemaining); !got.LastTransitionTime.Equal(new(at(4))) || got.Status != corev1.ConditionFalse || got.Reason != "ContentRemoved" {
		t.Errorf("%+v", got)
	}
	if got := find(t, status, corev1.NamespaceFinalizersRemaining); got.Reason != "ContentHasNoFinalizers" || got.Message != "All content-preserving finalizers finished" {
		t.Errorf("%+v", got)
	}
	if got := find(t, status, corev1.NamespaceDeletionDiscoveryFailure); !got.LastTransitionTime.Equal(new(at(1))) {
		t.Errorf("%+v", got)
	}
}

func TestRemains(t *testing.T) {
	if r := (&remains{}); !r.empty() || len(r.scopes()) != 0 {
		t.Error("nothing remains, it seems not")
	}
	if r := (&remains{failures: []error{errors.New("x")}}); r.empty() {
		t.Error("a failure is nothing")
	}
	s := controller.Scope{Namespace: "ns"}
	if r := (&remains{parts: []part{{Scope: s}}}); r.empty() || len(r.scopes()) != 1 || r.scopes()[0] != s {
		t.Error("a part is nothing")
	}
}
