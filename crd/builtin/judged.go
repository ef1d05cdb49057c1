package builtin

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
)

// judgedUpdate is what the strategy of the storage version says of updates at
// another one. Its messages name the fields of the storage version, as
// kube-apiserver's do.
type judgedUpdate struct {
	rest.RESTUpdateStrategy
	seen
}

// PrepareForUpdate implements [rest.RESTUpdateStrategy]. What cannot be seen at
// home is refused by the validation.
func (j judgedUpdate) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	if was, err := j.look(old); err == nil {
		j.changed(obj, func(now runtime.Object) { j.RESTUpdateStrategy.PrepareForUpdate(ctx, now, was) })
	}
}

// ValidateUpdate implements [rest.RESTUpdateStrategy].
func (j judgedUpdate) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	now, err := j.look(obj)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	was, err := j.look(old)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return j.RESTUpdateStrategy.ValidateUpdate(ctx, now, was)
}

// Canonicalize implements [rest.RESTUpdateStrategy].
func (j judgedUpdate) Canonicalize(obj runtime.Object) {
	j.changed(obj, j.RESTUpdateStrategy.Canonicalize)
}

// WarningsOnUpdate implements [rest.RESTUpdateStrategy].
func (j judgedUpdate) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	now, err := j.look(obj)
	if err != nil {
		return nil
	}
	was, err := j.look(old)
	if err != nil {
		return nil
	}
	return j.RESTUpdateStrategy.WarningsOnUpdate(ctx, now, was)
}

// GetResetFields implements [rest.ResetFieldsStrategy].
func (j judgedUpdate) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	if r, ok := j.RESTUpdateStrategy.(rest.ResetFieldsStrategy); ok {
		return r.GetResetFields()
	}
	return nil
}

// look is an object at home.
func (j judgedUpdate) look(obj runtime.Object) (*unstructured.Unstructured, error) {
	tree, err := j.atHome(content(obj))
	return &unstructured.Unstructured{Object: tree}, err
}

// changed lets fn change an object at home.
func (j judgedUpdate) changed(obj runtime.Object, fn func(runtime.Object)) {
	at, err := j.look(obj)
	if err != nil {
		return
	}
	fn(at)
	if back, err := j.away(at.Object); err == nil {
		become(content(obj), back, j.here, j.kind)
	}
}

// judged is judgedUpdate of whole objects, which can be created.
type judged struct {
	judgedUpdate
	names.NameGenerator
	create rest.RESTCreateStrategy
}

var _ crd.Strategy = judged{}

func newJudged(s seen, of crd.Strategy) judged { return judged{judgedUpdate{of, s}, of, of} }

// PrepareForCreate implements [rest.RESTCreateStrategy].
func (j judged) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	j.changed(obj, func(now runtime.Object) { j.create.PrepareForCreate(ctx, now) })
}

// Validate implements [rest.RESTCreateStrategy].
func (j judged) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	now, err := j.look(obj)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return j.create.Validate(ctx, now)
}

// WarningsOnCreate implements [rest.RESTCreateStrategy].
func (j judged) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	now, err := j.look(obj)
	if err != nil {
		return nil
	}
	return j.create.WarningsOnCreate(ctx, now)
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
		tree, err := p.atHome(content(o))
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
