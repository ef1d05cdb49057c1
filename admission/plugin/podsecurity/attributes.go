package podsecurity

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin"
)

// attributes are what the library sees of a request. It asks for objects only where a
// namespace has labels, and only then they become Go's types.
type attributes struct {
	admission.Attributes
	ctx context.Context // of the request, which the library's methods do not take
}

// GetOperation implements [k8s.io/pod-security-admission/api.Attributes].
func (a *attributes) GetOperation() admissionv1.Operation {
	return admissionv1.Operation(a.Attributes.GetOperation())
}

// GetName is the beginning of the name that the server is going to make, too.
func (a *attributes) GetName() string { return admission.NameOf(a.Attributes) }

// GetUserName implements [k8s.io/pod-security-admission/api.Attributes].
func (a *attributes) GetUserName() string { return a.GetUserInfo().GetName() }

// GetObject implements [k8s.io/pod-security-admission/api.Attributes].
func (a *attributes) GetObject() (runtime.Object, error) {
	return typed(a.GetKind(), a.Attributes.GetObject())
}

// GetOldObject implements [k8s.io/pod-security-admission/api.Attributes].
func (a *attributes) GetOldObject() (runtime.Object, error) {
	old, err := a.Attributes.GetOldObject(a.ctx)
	if err != nil {
		return nil, err
	}
	return typed(a.GetKind(), old)
}

// empty makes what the library judges.
var empty = map[schema.GroupKind]func() runtime.Object{
	{Kind: "Namespace"}:                  func() runtime.Object { return &corev1.Namespace{} },
	{Kind: "Pod"}:                        func() runtime.Object { return &corev1.Pod{} },
	{Kind: "PodTemplate"}:                func() runtime.Object { return &corev1.PodTemplate{} },
	{Kind: "ReplicationController"}:      func() runtime.Object { return &corev1.ReplicationController{} },
	{Group: "apps", Kind: "ReplicaSet"}:  func() runtime.Object { return &appsv1.ReplicaSet{} },
	{Group: "apps", Kind: "Deployment"}:  func() runtime.Object { return &appsv1.Deployment{} },
	{Group: "apps", Kind: "DaemonSet"}:   func() runtime.Object { return &appsv1.DaemonSet{} },
	{Group: "apps", Kind: "StatefulSet"}: func() runtime.Object { return &appsv1.StatefulSet{} },
	{Group: "batch", Kind: "Job"}:        func() runtime.Object { return &batchv1.Job{} },
	{Group: "batch", Kind: "CronJob"}:    func() runtime.Object { return &batchv1.CronJob{} },
}

func typed(kind schema.GroupVersionKind, from *unstructured.Unstructured) (runtime.Object, error) {
	begin, known := empty[kind.GroupKind()]
	if !known || from == nil {
		return nil, fmt.Errorf("there is no %s to judge", kind.Kind)
	}
	out := begin()
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, out)
}

// asked gives the library the namespaces that the request knows, which is in the
// context: as they are now, not as they were some time ago.
type asked struct{}

// GetNamespace implements [k8s.io/pod-security-admission/admission.NamespaceGetter].
// There is no more of it than the library looks at.
func (asked) GetNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	labels, err := ctx.Value(asked{}).(admission.Attributes).GetNamespaceLabels(ctx, name)
	if err != nil {
		return nil, err
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, nil
}

// lister are the pods of a namespace.
type lister struct{ objects plugin.Reader }

// ListPods implements [k8s.io/pod-security-admission/admission.PodLister]. Those for
// which no time is left are counted and not read, and the library says how many it
// looked at.
func (l lister) ListPods(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
	all, err := l.objects.List(ctx, pods, namespace)
	if err != nil {
		return nil, err
	}
	out := make([]*corev1.Pod, len(all))
	for i, u := range all {
		out[i] = &corev1.Pod{}
		if ctx.Err() != nil {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
