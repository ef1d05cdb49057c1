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

	"github.com/wasmgate/wasmgate/admission/limits"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
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
	_ resource.Mutator   = &Ranges{}
	_ resource.Validator = &Ranges{}
)

// New finds the LimitRanges; nil where that kind is not served.
func New(c *catalog.Catalog) *Ranges {
	kind := c.Snapshot().Resource(ranges)
	if kind == nil {
		return nil
	}
	return &Ranges{kind}
}

// Mutate implements [resource.Mutator]: containers get what they do not ask
// for.
func (r *Ranges) Mutate(ctx context.Context, w *resource.Write) error {
	all, err := r.about(ctx, w)
	if len(all) == 0 || err != nil || w.Resource.GroupResource() != pods {
		return err
	}
	now, err := w.NewAt(ctx, w.Version.Name)
	if err != nil {
		return err
	}
	if err := bounded(w, now, all); err != nil {
		return err
	}
	tree, changed := object.Clone(now), false
	for _, one := range all {
		changed = limits.Complete(tree, one) || changed
	}
	if !changed {
		return nil
	}
	return w.Replace(ctx, w.Version.Name, tree)
}

// Validate implements [resource.Validator].
func (r *Ranges) Validate(ctx context.Context, w *resource.Write) error {
	all, err := r.about(ctx, w)
	if len(all) == 0 || err != nil {
		return err
	}
	if err := bounded(w, w.Object().Object, all); err != nil {
		return err
	}
	check := checkOf(w)
	for _, one := range all {
		if why := check(one); why != nil {
			return apierrors.NewForbidden(w.Resource.GroupResource(), nameOf(w), why)
		}
	}
	return nil
}

// bounded refuses a write about which there is too much to say.
func bounded(w *resource.Write, tree map[string]any, all []*corev1.LimitRange) error {
	work := 0
	for _, one := range all {
		if work += limits.Work(tree, one); work > limits.Most {
			return apierrors.NewForbidden(w.Resource.GroupResource(), nameOf(w), fmt.Errorf("the LimitRanges of the namespace name too many resources for so many containers: more than %d together", limits.Most))
		}
	}
	return nil
}

// checkOf is how a LimitRange is asked about what is written.
func checkOf(w *resource.Write) func(*corev1.LimitRange) error {
	tree := w.Object().Object
	if w.Resource.GroupResource() == pods {
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
func (r *Ranges) about(ctx context.Context, w *resource.Write) (out []*corev1.LimitRange, err error) {
	now := r.kind.Bucket().Snapshot()
	if now.Len() == 0 || w.Operation() == resource.OperationDelete {
		return nil, nil
	}
	switch gr, update := w.Resource.GroupResource(), w.Operation() == resource.OperationUpdate; {
	case gr == pods && (update && w.Subresource == "resize" || !update && w.Subresource == ""):
	case gr == claims && w.Subresource == "":
		if update {
			if old, err := w.Old(ctx); err != nil || old.GetDeletionTimestamp() != nil {
				return nil, err
			}
		}
	default:
		return nil, nil
	}
	now.Ascend(catalog.JoinKey(w.Namespace, ""), "", func(it watchcache.Item[*catalog.Entry]) bool {
		var one *corev1.LimitRange
		if one, err = r.read(ctx, it.Value); err == nil {
			out = append(out, one)
		}
		return err == nil
	})
	return out, err
}

func (r *Ranges) read(ctx context.Context, e *catalog.Entry) (*corev1.LimitRange, error) {
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
func nameOf(w *resource.Write) string {
	if n := w.Object().GetName(); n != "" {
		return n
	}
	return w.Object().GetGenerateName()
}
