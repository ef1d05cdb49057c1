package definition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Finalizer empties a CustomResourceDefinition that is being deleted and
// then lets it go. It works on stored metadata, so a converter that fails
// cannot keep a definition from being deleted.
type Finalizer struct {
	objects Emptied
	served  content.Objects
	stored  content.Objects

	// mu guards told: when was told last, by definition, that it cannot be emptied.
	mu   sync.Mutex
	told map[string]time.Time
}

// Emptied are the definitions as the finalizer uses them.
type Emptied interface {
	client.MetadataGetter
	client.Getter
	client.Updater
	client.Catalog
}

// NewFinalizer returns the controller. served are the objects of every kind
// that is served; stored is what the store holds of any custom resource, served
// or not: only when nothing is left there a definition may go.
func NewFinalizer(objects Emptied, served, stored content.Objects) *Finalizer {
	return &Finalizer{objects: objects, served: served, stored: stored, told: map[string]time.Time{}}
}

// Name implements [controller.Controller].
func (c *Finalizer) Name() string { return "crd-finalizer" }

// Watches implements [controller.Controller].
func (c *Finalizer) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Definitions}
}

// Workers implements [controller.Concurrent].
func (c *Finalizer) Workers() int { return 4 }

// Reconcile implements [controller.Controller].
func (c *Finalizer) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	meta, err := c.objects.GetMetadata(ctx, gvr.Definitions, "", key.Name)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err != nil || meta.DeletionTimestamp == nil ||
		!slices.Contains(meta.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		q.Follow(key)
		c.forget(key.Name)
		return nil
	}
	obj, err := c.objects.Get(ctx, gvr.Definitions, "", key.Name)
	if err != nil {
		return gvr.IgnoreNotFound(err) // its deletion comes as a change of its own
	}
	def, err := gvr.Outline(obj)
	if err != nil {
		return err
	}
	if reason, message := c.whyNotEmptied(def); reason != "" {
		return c.release(ctx, q, key, obj, reason, message)
	}
	if !deletionReported(def) {
		obj, err = c.report(ctx, obj, terminating(apiextensionsv1.ConditionTrue,
			"InstanceDeletionInProgress", "CustomResource deletion is in progress"))
		if err != nil {
			return gvr.IgnoreNotFound(err)
		}
	}
	done, err := c.empty(ctx, q, key, resourceOf(def), obj)
	if err != nil || !done {
		return gvr.IgnoreNotFound(err)
	}
	return c.release(ctx, q, key, obj, "InstanceDeletionCompleted", "removed all instances")
}

// empty deletes the instances and reports whether none is left. While some
// are, their changes wake key.
func (c *Finalizer) empty(ctx context.Context, q controller.Queue, key controller.Key, gr schema.GroupResource, obj *unstructured.Unstructured) (bool, error) {
	scope := controller.Scope{GroupResource: gr}
	left, errs := c.sweep(ctx, scope, obj)
	if len(errs) > 0 {
		if slices.ContainsFunc(errs, apierrors.IsConflict) { // it is another one by now
			return false, errs[0]
		}
		err := few(errs)
		if statusErr := c.reportFailure(ctx, obj, err); apierrors.IsConflict(statusErr) {
			return false, statusErr
		}
		return false, err
	}
	if len(left) == 0 {
		return true, nil
	}
	q.Follow(key, scope)
	q.AddAfter(key, content.Recheck)
	_, err := c.report(ctx, obj, terminating(apiextensionsv1.ConditionTrue, "InstanceDeletionCheck",
		"could not confirm zero CustomResources remaining: "+describeLeft(left)))
	return false, err
}

// shown is how many failures are told of one sweep; the others are counted.
const shown = 3

// few joins the first failures.
func few(errs []error) error {
	more := len(errs) - shown
	if more <= 0 {
		return errors.Join(errs...)
	}
	return errors.Join(append(slices.Clip(errs[:shown]), fmt.Errorf("and %d more", more))...)
}

// reportFailure tells why obj cannot be emptied. A report wakes this controller, past
// the delay that a failure has: while others of the kind are new, none is made that
// differs in words only.
func (c *Finalizer) reportFailure(ctx context.Context, obj *unstructured.Unstructured, failure error) error {
	const reason = "InstanceDeletionFailed"
	name := obj.GetName()
	c.mu.Lock()
	lately := time.Since(c.told[name]) < content.Recheck
	c.mu.Unlock()
	if def, err := gvr.Outline(obj); err != nil || lately && hasReason(def, reason) {
		return err
	}
	_, err := c.report(ctx, obj, terminating(apiextensionsv1.ConditionTrue, reason,
		"could not issue all deletes: "+gvr.Shorten(failure.Error())))
	if err == nil {
		c.mu.Lock()
		c.told[name] = time.Now()
		c.mu.Unlock()
	}
	return err
}

// forget forgets when was told of a definition that needs no emptying, or is gone.
func (c *Finalizer) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.told, name)
}

// sweep deletes the instances and returns those that are still there. What is
// served under the name of a built-in kind is that kind.
func (c *Finalizer) sweep(ctx context.Context, s controller.Scope, obj *unstructured.Unstructured) (left []metav1.PartialObjectMetadata, errs []error) {
	// Once there is another definition of that name, what was listed may be its own.
	mine := func(ctx context.Context) error {
		if err := c.served.Fresh(ctx); err != nil {
			return err
		}
		now, err := c.objects.GetMetadata(ctx, gvr.Definitions, "", obj.GetName())
		if apierrors.IsNotFound(err) || err == nil && now.UID != obj.GetUID() {
			return apierrors.NewConflict(gvr.Definitions, obj.GetName(), errors.New("the definition that was being emptied is gone"))
		}
		return err
	}
	isBuiltIn := slices.ContainsFunc(c.objects.Served(), func(d *crd.Definition) bool {
		return builtIn(d) && d.Is(s.GroupResource)
	})
	if !isBuiltIn {
		if left, errs = content.Sweep(ctx, c.served, s, mine); len(left) > 0 || len(errs) > 0 {
			return left, errs
		}
	}
	return content.Sweep(ctx, c.stored, s, mine)
}

// builtIn tells the kinds that no CustomResourceDefinition defines.
func builtIn(d *crd.Definition) bool { return d.UID == "" }

// release reports why there is nothing left to do and removes the finalizer, in one
// write of the status: those of the definition itself are others' to refuse. While others
// hold the definition it goes on terminating, and takes nothing new.
func (c *Finalizer) release(ctx context.Context, q controller.Queue, key controller.Key, obj *unstructured.Unstructured, reason, message string) error {
	others := slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool {
		return f == apiextensionsv1.CustomResourceCleanupFinalizer
	})
	status := apiextensionsv1.ConditionFalse
	if len(others) > 0 {
		status = apiextensionsv1.ConditionTrue
	}
	if _, err := setCondition(obj, terminating(status, reason, message)); err != nil {
		return err
	}
	obj.SetFinalizers(others)
	_, err := c.objects.Update(ctx, gvr.Definitions, "status", gvr.WithoutSpec(obj))
	if err == nil {
		q.Follow(key)
	}
	return gvr.IgnoreNotFound(err)
}

// report writes one condition, unless it is there already.
func (c *Finalizer) report(ctx context.Context, obj *unstructured.Unstructured,
	cond apiextensionsv1.CustomResourceDefinitionCondition) (*unstructured.Unstructured, error) {
	if changed, err := setCondition(obj, cond); err != nil || !changed {
		return obj, err
	}
	return c.objects.Update(ctx, gvr.Definitions, "status", gvr.WithoutSpec(obj))
}

// setCondition lets obj have one condition, and tells whether that is news.
func setCondition(obj *unstructured.Unstructured, cond apiextensionsv1.CustomResourceDefinitionCondition) (changed bool, err error) {
	def, err := gvr.Outline(obj)
	if err != nil {
		return false, err
	}
	cond.LastTransitionTime = metav1.Now()
	i := slices.IndexFunc(def.Status.Conditions, func(have apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return have.Type == cond.Type
	})
	if i < 0 {
		def.Status.Conditions = append(def.Status.Conditions, cond)
	} else {
		have := def.Status.Conditions[i]
		if have.Status == cond.Status && have.Reason == cond.Reason && have.Message == cond.Message {
			return false, nil
		}
		if have.Status == cond.Status {
			cond.LastTransitionTime = have.LastTransitionTime
		}
		def.Status.Conditions[i] = cond
	}
	return true, gvr.SetStatus(obj, &def.Status)
}

// whyNotEmptied tells why a definition can have no instances of its own.
func (c *Finalizer) whyNotEmptied(def *apiextensionsv1.CustomResourceDefinition) (reason, message string) {
	switch {
	case slices.ContainsFunc(c.objects.Served(), func(d *crd.Definition) bool {
		return builtIn(d) && d.KeyPrefix == def.Spec.Group+"/"+def.Spec.Names.Plural
	}):
		return "OverlappingBuiltInResource", "instances overlap with built-in resources in storage"
	case !gvr.IsTrue(def, apiextensionsv1.Established):
		return "NeverEstablished", "resource was never established"
	}
	return "", ""
}

func deletionReported(def *apiextensionsv1.CustomResourceDefinition) bool {
	return hasReason(def, "InstanceDeletionInProgress", "InstanceDeletionCheck", "InstanceDeletionFailed")
}

// hasReason tells whether a definition terminates for one of reasons.
func hasReason(def *apiextensionsv1.CustomResourceDefinition, reasons ...string) bool {
	return slices.ContainsFunc(def.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Terminating && c.Status == apiextensionsv1.ConditionTrue && slices.Contains(reasons, c.Reason)
	})
}

func resourceOf(def *apiextensionsv1.CustomResourceDefinition) schema.GroupResource {
	return schema.GroupResource{Group: def.Spec.Group, Resource: def.Spec.Names.Plural}
}

func terminating(s apiextensionsv1.ConditionStatus, reason, message string) apiextensionsv1.CustomResourceDefinitionCondition {
	return apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: s, Reason: reason, Message: message,
	}
}

// describeLeft says what holds the items that are left, in a stable order.
func describeLeft(left []metav1.PartialObjectMetadata) string {
	held := map[string]int{}
	content.CountFinalizers(held, left)
	s := fmt.Sprintf("%d left", len(left))
	if parts := content.SortedCounts(held, "%s in %d"); len(parts) > 0 {
		s += ", held by finalizers: " + strings.Join(parts, ", ")
	}
	return gvr.Shorten(s)
}
