// Package bindings owns the check of what refers to a module when it is written:
// a definition that a module converts for, a webhook that is a module, a
// VersionPriority. What cannot work is said then, and not by the first read.
//
// It must not know how modules are loaded or run.
package bindings

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// Bindings is a validating stage of writes. All fields are required.
type Bindings struct {
	// Status tells what is known of a module; ok is false when this gateway
	// never saw one of that name.
	Status func(name string) (status plugins.Status, ok bool)
	// Distrusted tells why a module may not serve what an object of a name is to have it
	// do, "" where it may or nobody knows.
	Distrusted func(ctx context.Context, ref module.Reference, by string) (why string, err error)
}

var _ admission.Validator = Bindings{}

// Name implements [admission.Plugin].
func (Bindings) Name() string { return order.ModuleReference }

// Validate implements [admission.Validator]. A reference that was there before is
// left alone: its object must stay changeable.
func (b Bindings) Validate(ctx context.Context, a admission.Attributes) error {
	gr := a.GetResource().GroupResource()
	if !module.Refers(gr) || a.GetObject() == nil || a.GetSubresource() != "" {
		return nil
	}
	now := module.References(gr, a.GetObject().Object)
	if len(now) == 0 {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	var before []module.Reference
	if old != nil {
		before = module.References(gr, old.Object)
	}
	var errs field.ErrorList
	told := map[string]bool{}
	warn := func(warning string) {
		if warning != "" && !told[warning] {
			told[warning] = true
			a.Warn(warning)
		}
	}
	for _, ref := range now {
		if ref.Hook == plugins.Convert { // versions come and go while it stays
			warn(b.lacking(ref, a.GetObject().Object))
		}
		if slices.ContainsFunc(before, func(r module.Reference) bool { return r.Module == ref.Module && r.Hook == ref.Hook }) {
			continue
		}
		why, err := b.Distrusted(ctx, ref, a.GetName())
		if err != nil {
			return err
		}
		if why != "" {
			errs = append(errs, field.Invalid(ref.Path, ref.Module, why))
			continue
		}
		warning, wrong := b.check(ref)
		if wrong != nil {
			errs = append(errs, wrong)
		}
		warn(warning)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), errs)
	}
	return nil
}

// check judges one reference. What is not there yet may come, in any order; a
// module that is there and lacks the hook was meant for something else.
func (b Bindings) check(ref module.Reference) (warning string, wrong *field.Error) {
	status, known := b.Status(ref.Module)
	switch {
	case !known:
		return fmt.Sprintf("%s: there is no WasmModule %q; until there is, %s", ref.Path, ref.Module, fails[ref.Hook]), nil
	case status.Serving == nil:
		return fmt.Sprintf("%s: WasmModule %q is not ready; until it is, %s", ref.Path, ref.Module, fails[ref.Hook]), nil
	case !slices.Contains(status.Hooks, ref.Hook):
		names := make([]string, len(status.Hooks))
		for i, h := range status.Hooks {
			names[i] = string(h)
		}
		return "", field.Invalid(ref.Path, ref.Module, fmt.Sprintf("the module does not have the hook %s; it has %s", ref.Hook, strings.Join(names, ", ")))
	}
	return "", nil
}

// lacking warns of a definition that needs conversions which its module does not
// name among those that it makes.
func (b Bindings) lacking(ref module.Reference, definition map[string]any) (warning string) {
	status, _ := b.Status(ref.Module)
	if status.Serving == nil {
		return ""
	}
	lacking := plugins.Lacking(status.Conversions, module.Needs(definition))
	if len(lacking) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: WasmModule %q does not convert %s, which this definition needs; until it does, objects cannot be read and written there", ref.Path, ref.Module, module.Named(lacking))
}

// fails says what becomes of calls of a hook that cannot be made.
var fails = map[plugins.Hook]string{
	plugins.Convert:    "objects cannot be converted",
	plugins.Admit:      "the failurePolicy decides",
	plugins.Prioritize: "the Kubernetes order is in force",
}
