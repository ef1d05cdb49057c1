package serviceaccount

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// The ConfigMap that says since when uses of tokens in Secrets are noted, without which
// kube-controller-manager takes none for unused. The names are kube-apiserver's.
const (
	trackingMap   = "kube-apiserver-legacy-service-account-token-tracking"
	trackingSince = "since"
	// madeAgain is how long a ConfigMap that was made and deleted stays away: beside
	// servers of an older release, which delete it, there would be a fight.
	madeAgain = 30 * time.Minute
)

var tracked = controller.Key{GroupResource: configMaps, Namespace: metav1.NamespaceSystem, Name: trackingMap}

// Tracking is the controller that keeps that ConfigMap.
type Tracking struct {
	objects Making
	now     func() time.Time
	// made is when it was made last, zero for not by this one.
	made time.Time
}

// NewTracking makes the controller.
func NewTracking(objects Making) *Tracking { return &Tracking{objects: objects, now: time.Now} }

// Name implements [controller.Controller].
func (*Tracking) Name() string { return "legacy-token-tracking" }

// Watches implements [controller.Controller].
func (*Tracking) Watches() []schema.GroupResource { return []schema.GroupResource{configMaps} }

// Seeds implements [controller.Seeded].
func (*Tracking) Seeds() []controller.Key { return []controller.Key{tracked} }

// Reconcile implements [controller.Controller].
func (c *Tracking) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key != tracked {
		return nil
	}
	now := c.now()
	have, err := c.objects.Get(ctx, configMaps, key.Namespace, key.Name)
	switch {
	case apierrors.IsNotFound(err):
		return c.make(ctx, q, now)
	case err != nil:
		return err
	}
	since, _, _ := unstructured.NestedString(have.Object, "data", trackingSince)
	if _, err := time.Parse(time.DateOnly, since); err == nil {
		return nil
	}
	data, _, _ := unstructured.NestedMap(have.Object, "data")
	if data == nil {
		data = map[string]any{}
	}
	data[trackingSince] = day(now)
	have.Object["data"] = data
	if _, err = c.objects.Update(ctx, configMaps, "", have); apierrors.IsNotFound(err) {
		return nil // there will be an event
	}
	return err
}

func (c *Tracking) make(ctx context.Context, q controller.Queue, now time.Time) error {
	if wait := c.made.Add(madeAgain).Sub(now); !c.made.IsZero() && wait > 0 {
		q.AddAfter(tracked, wait)
		return nil
	}
	_, err := c.objects.Create(ctx, configMaps, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{trackingSince: day(now)},
		"metadata": map[string]any{"name": tracked.Name, "namespace": tracked.Namespace},
	}})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err == nil {
		c.made = now
	}
	return err
}

// day is a day as labels and the ConfigMap write it.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
