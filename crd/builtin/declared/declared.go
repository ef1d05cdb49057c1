// Package declared owns the rules of built-in kinds that are generated from comment
// tags of their Go types, and what becomes of them beside the rules that kinds had
// before: whether they agree, and which count. It must not know what the latter are.
package declared

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/builtin/declared/core"
)

// Rules are those of one version of a kind.
type Rules struct {
	// Validate judges an object, old being nil for one that is created.
	Validate func(ctx context.Context, obj, old runtime.Object, subresource string) field.ErrorList
	// Stands are the fields about which the rules say all that the rules before them
	// did, with the types of their errors.
	Stands map[string][]field.ErrorType
}

// stands are the kinds that have rules here.
var stands = map[schema.GroupVersionKind]map[string][]field.ErrorType{
	{Version: "v1", Kind: "ReplicationController"}: {
		"metadata.name":        {field.ErrorTypeInvalid},
		"spec.replicas":        {field.ErrorTypeInvalid, field.ErrorTypeRequired},
		"spec.minReadySeconds": {field.ErrorTypeInvalid},
	},
}

var registered = sync.OnceValues(func() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, core.AddToScheme(s)
})

// Of returns the rules of a kind, nil of one that has none.
func Of(gvk schema.GroupVersionKind) *Rules {
	fields, ok := stands[gvk]
	if !ok {
		return nil
	}
	return &Rules{Validate: validate, Stands: fields}
}

func validate(ctx context.Context, obj, old runtime.Object, subresource string) field.ErrorList {
	s, err := registered()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	var at []string
	if subresource != "" {
		at = []string{subresource}
	}
	if old == nil {
		return s.Validate(ctx, nil, obj, at...)
	}
	return s.ValidateUpdate(ctx, nil, obj, old, at...)
}

// Modes are how the rules count. The zero value runs none.
type Modes struct {
	// On has them run and compared, TakeOver has them decide about their fields.
	On, TakeOver bool
	// Differ is told where they do not agree with the others, Panicked that they
	// did not end; of is the kind and what was done. Both are set if On is.
	Differ   func(of, what string)
	Panicked func(of string, cause any)
}

// Judge runs the rules and returns what counts: present, what the others found, or that
// with these rules' errors in the place of those they stand for.
func (r *Rules) Judge(ctx context.Context, m Modes, of, subresource string, obj, old runtime.Object, present field.ErrorList) field.ErrorList {
	if !m.On {
		return present
	}
	declared, cause := r.safely(ctx, obj, old, subresource)
	if cause != nil {
		m.Panicked(of, cause)
		if m.TakeOver {
			present = append(present, field.InternalError(nil, fmt.Errorf("panic during declarative validation: %v", cause)))
		}
		return present
	}
	for _, what := range r.differences(present, declared) {
		m.Differ(of, what)
	}
	if !m.TakeOver {
		return present
	}
	out := declared
	for _, err := range present {
		if !r.standsFor(err) {
			out = append(out, err)
		}
	}
	return out
}

// safely runs the rules without those that are alpha, and returns what they panicked with.
func (r *Rules) safely(ctx context.Context, obj, old runtime.Object, subresource string) (errs field.ErrorList, cause any) {
	defer func() { cause = recover() }()
	for _, err := range r.Validate(ctx, obj, old, subresource) {
		if !err.IsAlpha() {
			errs = append(errs, err)
		}
	}
	return errs, nil
}

func (r *Rules) standsFor(err *field.Error) bool {
	for _, of := range r.Stands[err.Field] {
		if of == err.Type {
			return true
		}
	}
	return false
}

var same = field.ErrorMatcher{}.ByType().ByField()

// differences are the errors of one side that the other has not.
func (r *Rules) differences(present, declared field.ErrorList) (out []string) {
	for _, err := range present {
		if r.standsFor(err) && !has(declared, err) {
			out = append(out, "declarative validation does not find "+same.Render(err))
		}
	}
	for _, err := range declared {
		if !has(present, err) {
			out = append(out, "only declarative validation finds "+same.Render(err))
		}
	}
	return out
}

func has(all field.ErrorList, err *field.Error) bool {
	for _, other := range all {
		if same.Matches(err, other) {
			return true
		}
	}
	return false
}
