// Package event owns the Events about what wasmgate's own objects come to: each
// change of a condition is told once, and once if several come to the same, so that kubectl describe and kubectl events
// show how an object came to be what it is.
//
// It must not know what any condition means.
package event

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Objects are what is told about, and where.
type Objects interface {
	client.Getter
	client.Lister
	client.Creator
}

// reporter is who the events are from.
const reporter = "wasmgate"

const (
	// maxMessage is the longest message that an event may have (core/v1), in
	// bytes.
	maxMessage = 1024
	// Of one object as many changes are told at once, and then one in as much
	// time: a condition that flaps shall not fill the store.
	burst, refill = 25, 5 * time.Minute
	// handover is how long before a gateway began to tell the one before may have ended.
	handover = time.Minute
)

// Controller tells of conditions of cluster-scoped kinds. It runs in one gateway;
// what changes long before one does is not told.
type Controller struct {
	objects Objects
	watched []schema.GroupResource
	now     func() time.Time

	mu    sync.Mutex
	seen  map[controller.Key]seen // guarded by mu
	began time.Time               // when this gateway began to tell; guarded by mu
}

// seen are the conditions of an object when it was looked at last.
type seen struct {
	uid        types.UID
	conditions map[string]metav1.Condition
	told       *rate.Limiter
}

// says tells that a condition of some type says what one without a type does.
func (s seen) says(what metav1.Condition) bool {
	for _, c := range s.conditions {
		if c.Type = ""; c == what {
			return true
		}
	}
	return false
}

// New returns a controller for kinds whose conditions are good when they are
// True. What is Unknown is no news: it goes on.
func New(objects Objects, watched ...schema.GroupResource) *Controller {
	return &Controller{objects: objects, watched: watched, now: time.Now, seen: map[controller.Key]seen{}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "events" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource { return c.watched }

// Work implements [controller.Working]: it notes since when this gateway tells.
func (c *Controller) Work(ctx context.Context, _ controller.Queue) error {
	c.mu.Lock()
	c.began = c.now()
	c.mu.Unlock()
	<-ctx.Done()
	return nil
}

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	obj, err := c.objects.Get(ctx, key.GroupResource, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.seen, key)
		return nil
	}
	if err != nil {
		return err
	}
	conditions, err := gvr.Conditions(obj)
	if err != nil {
		return err
	}
	now := seen{obj.GetUID(), map[string]metav1.Condition{}, rate.NewLimiter(rate.Every(refill), burst)}
	for _, condition := range conditions {
		condition.ObservedGeneration, condition.LastTransitionTime = 0, metav1.Time{} // neither is news
		now.conditions[condition.Type] = condition
	}
	before, known := c.before(key, now.uid)
	switch {
	case known:
		now.told = before.told
	case len(conditions) > 0 && c.older(obj):
		if before, err = c.inherited(ctx, obj, now); err != nil {
			return err
		}
	}
	told := map[metav1.Condition]bool{} // without a type: an event does not tell it
	for _, condition := range conditions {
		says, said := now.conditions[condition.Type], before.conditions[condition.Type]
		if says == said || says.Status == metav1.ConditionUnknown || now.told.TokensAt(c.now()) < 1 {
			continue
		}
		if says.Type = ""; told[says] || said.Status != metav1.ConditionTrue && before.says(says) {
			continue
		}
		told[says] = true
		if err := c.tell(ctx, obj, condition); err != nil {
			return err
		}
		now.told.AllowN(c.now(), 1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[key] = now
	return nil
}

// before is what was seen of the object with that uid; known is false when
// nothing was.
func (c *Controller) before(key controller.Key, uid types.UID) (s seen, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, known = c.seen[key]; s.uid != uid {
		return seen{}, false
	}
	return s, known
}

// older reports whether obj is from a time when another gateway told. A younger one may
// have conditions, too, when it is seen first.
func (c *Controller) older(obj *unstructured.Unstructured) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	created := obj.GetCreationTimestamp()
	return c.began.IsZero() || created.Time.Before(c.began.Truncate(time.Second)) // which timestamps are
}

// inherited is what the gateway that told before this one has told of an object, which is
// now as seen: all but what changed so shortly before that it may have ended, and no event
// tells.
func (c *Controller) inherited(ctx context.Context, obj *unstructured.Unstructured, now seen) (seen, error) {
	since := c.since().Add(-handover)
	conditions, err := gvr.Conditions(obj)
	if err != nil {
		return now, err
	}
	conditions = slices.DeleteFunc(conditions, func(condition metav1.Condition) bool { return condition.LastTransitionTime.Time.Before(since) })
	if len(conditions) == 0 {
		return now, nil
	}
	told, err := c.objects.List(ctx, gvr.Events, metav1.NamespaceDefault)
	if err != nil {
		return now, gvr.IgnoreNotFound(err) // not served
	}
	before := seen{now.uid, maps.Clone(now.conditions), now.told}
	told = slices.DeleteFunc(told, func(e *unstructured.Unstructured) bool {
		uid, _, _ := unstructured.NestedString(e.Object, "involvedObject", "uid")
		return uid != string(obj.GetUID())
	})
	for _, condition := range conditions {
		want := c.event(obj, condition)
		if !slices.ContainsFunc(told, func(e *unstructured.Unstructured) bool { return tells(e, want, condition) }) {
			delete(before.conditions, condition.Type)
		}
	}
	return before, nil
}

// since is when this gateway began to tell.
func (c *Controller) since() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.began.IsZero() {
		return c.now()
	}
	return c.began
}

// tells reports whether an event of an object is what is wanted of its condition, and no
// earlier change to the same.
func tells(e *unstructured.Unstructured, want *corev1.Event, condition metav1.Condition) bool {
	text, _ := e.Object["lastTimestamp"].(string)
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && !at.Before(condition.LastTransitionTime.Truncate(time.Second)) && e.Object["reason"] == want.Reason && e.Object["message"] == want.Message
}

// tell creates the event. That it may not be created holds nothing up.
func (c *Controller) tell(ctx context.Context, obj *unstructured.Unstructured, condition metav1.Condition) error {
	event, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.event(obj, condition))
	if err != nil {
		return err
	}
	_, err = c.objects.Create(ctx, gvr.Events, &unstructured.Unstructured{Object: event})
	if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) { // told, not served, or not wanted
		return nil
	}
	if err != nil {
		return fmt.Errorf("tell of %s %q: %w", obj.GetKind(), obj.GetName(), err)
	}
	return nil
}

// event is named after what it tells and when, so that it is told once.
func (c *Controller) event(obj *unstructured.Unstructured, condition metav1.Condition) *corev1.Event {
	now := metav1.NewTime(c.now())
	message := condition.Message
	if len(message) > maxMessage {
		message = excerpt.Of(message, maxMessage-len("..."))
	}
	h := fnv.New64a()
	fmt.Fprint(h, obj.GetUID(), obj.GetResourceVersion(), condition.Type) // never fails
	kind := corev1.EventTypeNormal
	if condition.Status == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	return &corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: eventName(obj.GetName(), fmt.Sprintf(".%016x", h.Sum64()))},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Name: obj.GetName(), UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(),
		},
		Type: kind, Reason: condition.Reason, Message: message,
		Source: corev1.EventSource{Component: reporter}, ReportingController: reporter,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
}

// maxNamed is how much of the name of what an event is about is in its own.
const maxNamed = 200

// eventName begins with the name of what an event is about, if an event can be named so,
// which it cannot where that is cut at a dash.
func eventName(of, suffix string) string {
	name := of[:min(len(of), maxNamed)] + suffix
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return reporter + suffix
	}
	return name
}
