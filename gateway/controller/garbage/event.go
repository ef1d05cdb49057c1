package garbage

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/rs/zerolog"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
)

var events = schema.GroupResource{Resource: "events"}

const (
	// invalidNamespace is the reason of events about references across
	// namespaces.
	invalidNamespace = "OwnerRefInvalidNamespace"
	// unreadDependent is the reason of events about deletions that an object holds
	// up which cannot be read.
	unreadDependent = "UnreadableDependent"
	// reporter is who such events are from.
	reporter = "garbage-collector-controller"
	// maxName is the longest name that an object may have.
	maxName = 253
)

// elsewhere tells whether the owner that is not at a place is in another
// namespace. It looks at every namespace; what it finds is remembered with the
// owner.
func (c *Collector) elsewhere(ctx context.Context, r metav1.OwnerReference, place controller.Key) (bool, error) {
	for _, ns := range c.namespaceNames() {
		m, err := c.objects.Ownership(ctx, place.GroupResource, ns, place.Name, false)
		if err == nil && m.UID == r.UID {
			return true, nil
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
	}
	return false, nil
}

// reports tells whoever looks at an object what becomes of it, with events.
type reports struct {
	objects Objects
	log     zerolog.Logger
	// served is the definition of a kind, nil of one that is not served.
	served func(schema.GroupResource) *crd.Definition
}

// misplaced tells that n refers to an owner in a namespace that is not its
// own.
func (r reports) misplaced(ctx context.Context, n node, to metav1.OwnerReference) {
	r.report(ctx, n, string(to.UID), invalidNamespace, fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
		to.APIVersion, to.Kind, n.Key.Namespace, to.Name, to.UID, n.Key.Namespace))
}

// heldUp is why the deletion of owner goes no further, which waits until its
// dependents are done with: for an object that cannot be read. Whoever looks at owner
// is told, too.
func (r reports) heldUp(ctx context.Context, owner node, done string, by controller.Key, why string) error {
	r.report(ctx, owner, by.String(), unreadDependent, fmt.Sprintf("it is not deleted before its dependents are %s: %s %s; repair or remove it", done, by, why))
	return fmt.Errorf("%s is not deleted before its dependents are %s: %s %s; repair or remove it", owner, done, by, why)
}

// report tells something about n with an event. What is told once for n and what
// else it is about is not told again while the event is there. That nobody can be
// told holds nothing up.
func (r reports) report(ctx context.Context, n node, about, reason, message string) {
	obj, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r.event(n, about, reason, message))
	if err == nil {
		_, err = r.objects.Create(ctx, events, &unstructured.Unstructured{Object: obj})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
		r.log.Warn().Err(err).Stringer("object", n).Str("reason", reason).Str("message", message).Msg("an event could not be made")
	}
}

func (r reports) event(n node, about, reason, message string) *corev1.Event {
	h := fnv.New64a()
	_, _ = h.Write([]byte(string(n.UID) + "/" + about)) // never fails
	suffix := fmt.Sprintf(".%016x", h.Sum64())
	namespace := n.Key.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	involved := corev1.ObjectReference{Namespace: n.Key.Namespace, Name: n.Key.Name, UID: n.UID}
	if d := r.served(n.GroupResource); d != nil {
		involved.APIVersion, involved.Kind = d.APIVersion(d.StorageVersion), d.Kind
	}
	now := metav1.Now()
	return &corev1.Event{
		TypeMeta:       metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: eventName(n.Key.Name, suffix)},
		InvolvedObject: involved,
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message,
		Source:         corev1.EventSource{Component: reporter},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
		ReportingController: reporter,
	}
}

// eventName begins with the name of what an event is about, if an event can be named
// so: names of roles may have colons.
func eventName(of, suffix string) string {
	name := of[:min(len(of), maxName-len(suffix))] + suffix
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return reporter + suffix
	}
	return name
}
