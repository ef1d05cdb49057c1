// Package limitrange owns when LimitRanges are asked: about new pods and about
// claims, in the namespaces that have some.
//
// It must not know HTTP nor the store, nor what a LimitRange says: that is
// admission/limits'.
package limitrange

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/limits"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

var (
	ranges = schema.GroupResource{Resource: "limitranges"}
	pods   = schema.GroupResource{Resource: "pods"}
	claims = schema.GroupResource{Resource: "persistentvolumeclaims"}
)

// Ranges are the LimitRanges in force. They are asked before webhooks, which see
// what they set, and once more after them.
type Ranges struct{ kind *catalog.Resource }

var (
	_ admission.Mutator   = &Ranges{}
	_ admission.Validator = &Ranges{}
)

// New finds the LimitRanges; nil where that kind is not served.
func New(c *catalog.Catalog) *Ranges {
	kind := c.Snapshot().Resource(ranges)
	if kind == nil {
		return nil
	}
	return &Ranges{kind}
}

// Name implements [admission.Plugin].
func (*Ranges) Name() string { return order.LimitRanger }

// Mutate implements [admission.Mutator]: containers get what they do not ask
// for.
func (r *Ranges) Mutate(ctx context.Context, a admission.Attributes) error {
	all, err := r.about(ctx, a)
	if len(all) == 0 || err != nil || a.GetResource().GroupResource() != pods {
		return err
	}
	now, err := a.GetObjectAt(ctx, a.GetResource().Version)
	if err != nil {
		return err
	}
	if err := bounded(a, now, all); err != nil {
		return err
	}
	tree, changed := object.Clone(now), false
	for _, one := range all {
		changed = limits.Complete(tree, one) || changed
	}
	if !changed {
		return nil
	}
	return a.Replace(ctx, a.GetResource().Version, tree)
}

// Validate implements [admission.Validator].
func (r *Ranges) Validate(ctx context.Context, a admission.Attributes) error {
	all, err := r.about(ctx, a)
	if len(all) == 0 || err != nil {
		return err
	}
	if err := bounded(a, a.GetObject().Object, all); err != nil {
		return err
	}
	check := checkOf(a)
	for _, one := range all {
		if why := check(one); why != nil {
			return apierrors.NewForbidden(a.GetResource().GroupResource(), nameOf(a), why)
		}
	}
	return nil
}

// bounded refuses a write about which there is too much to say.
func bounded(a admission.Attributes, tree map[string]any, all []*corev1.LimitRange) error {
	work := 0
	for _, one := range all {
		if work += limits.Work(tree, one); work > limits.Most {
			return apierrors.NewForbidden(a.GetResource().GroupResource(), nameOf(a), fmt.Errorf("the LimitRanges of the namespace name too many resources for so many containers: more than %d together", limits.Most))
		}
	}
	return nil
}

// checkOf is how a LimitRange is asked about what is written.
func checkOf(a admission.Attributes) func(*corev1.LimitRange) error {
	tree := a.GetObject().Object
	if a.GetResource().GroupResource() == pods {
		return checking(tree, limits.CheckPod)
	}
	return checking(tree, limits.CheckClaim)
}

func checking[T any](tree map[string]any, check func(*T, *corev1.LimitRange) error) func(*corev1.LimitRange) error {
	out := new(T)
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, out)
	return func(r *corev1.LimitRange) error {
		if err != nil {
			return err
		}
		return check(out, r)
	}
}

// about are the LimitRanges that have a say in a write: in new pods and new sizes
// of pods, and in claims that are not being deleted.
func (r *Ranges) about(ctx context.Context, a admission.Attributes) (out []*corev1.LimitRange, err error) {
	now := r.kind.Bucket().Snapshot()
	if now.Len() == 0 || a.GetOperation() == admission.Delete {
		return nil, nil
	}
	switch gr, update := a.GetResource().GroupResource(), a.GetOperation() == admission.Update; {
	case gr == pods && (update && a.GetSubresource() == "resize" || !update && a.GetSubresource() == ""):
	case gr == claims && a.GetSubresource() == "":
		if update {
			if old, err := a.GetOldObject(ctx); err != nil || old.GetDeletionTimestamp() != nil {
				return nil, err
			}
		}
	default:
		return nil, nil
	}
	now.Ascend(catalog.JoinKey(a.GetNamespace(), ""), "", func(it watchcache.Item[*view.Entry]) bool {
		var one *corev1.LimitRange
		if one, err = r.read(ctx, it.Value); err == nil {
			out = append(out, one)
		}
		return err == nil
	})
	return out, err
}

func (r *Ranges) read(ctx context.Context, e *view.Entry) (*corev1.LimitRange, error) {
	data, err := r.kind.View(ctx, e, r.kind.Def.StorageVersion)
	if err != nil {
		return nil, err
	}
	out := &corev1.LimitRange{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, r.kind.Unreadable(e, err)
	}
	return out, nil
}

// nameOf is the name of what is written, or how it begins.
func nameOf(a admission.Attributes) string {
	if n := a.GetObject().GetName(); n != "" {
		return n
	}
	return a.GetObject().GetGenerateName()
}
