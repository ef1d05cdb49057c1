package builtin

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
)

// judged is what the strategy of the storage version says of objects at another
// one. Its messages name the fields of the storage version, as kube-apiserver's do.
type judged struct {
	crd.Strategy
	seen
}

// Prepare implements [crd.Strategy]. What cannot be seen at home is refused by the
// validation.
func (j judged) Prepare(ctx context.Context, obj, old *unstructured.Unstructured) {
	if was, err := j.look(old); err == nil {
		j.changed(obj, func(now *unstructured.Unstructured) { j.Strategy.Prepare(ctx, now, was) })
	}
}

// Validate implements [crd.Strategy].
func (j judged) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	now, err := j.look(obj)
	var was *unstructured.Unstructured
	if err == nil {
		was, err = j.look(old)
	}
	if err != nil {
		return crd.Verdict{Errors: field.ErrorList{field.InternalError(nil, err)}}
	}
	return j.Strategy.Validate(ctx, now, was)
}

// Canonicalize implements [crd.Strategy].
func (j judged) Canonicalize(obj *unstructured.Unstructured) {
	j.changed(obj, j.Strategy.Canonicalize)
}

// look is an object at home, nil of none.
func (j judged) look(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if obj == nil {
		return nil, nil
	}
	tree, err := j.atHome(content(obj))
	return &unstructured.Unstructured{Object: tree}, err
}

// changed lets fn change an object at home.
func (j judged) changed(obj *unstructured.Unstructured, fn func(*unstructured.Unstructured)) {
	at, err := j.look(obj)
	if err != nil {
		return
	}
	fn(at)
	if back, err := j.Away(at.Object); err == nil {
		extend.Become(content(obj), back, j.here, j.kind)
	}
}

// printed prints objects as what they are at home.
type printed struct {
	seen
	table rest.TableConvertor
}

// ConvertToTable implements [rest.TableConvertor].
func (p printed) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	at := &unstructured.UnstructuredList{}
	one := func(o runtime.Object) error {
		u, _ := o.(*unstructured.Unstructured)
		tree, err := p.atHome(content(u))
		at.Items = append(at.Items, unstructured.Unstructured{Object: tree})
		return err
	}
	if !meta.IsListType(obj) {
		if err := one(obj); err != nil {
			return nil, err
		}
		return p.table.ConvertToTable(ctx, &at.Items[0], options)
	}
	if list, ok := obj.(*unstructured.UnstructuredList); ok {
		at.Object = list.Object
	}
	if err := meta.EachListItem(obj, one); err != nil {
		return nil, err
	}
	return p.table.ConvertToTable(ctx, at, options)
}
