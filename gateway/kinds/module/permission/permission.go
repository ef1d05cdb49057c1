// Package permission owns who may let modules work: who refers to one needs the verb
// use on it, and who grants one the sight of objects may read these.
//
// It must not know how a request is decided on, nor what a module is.
package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// Guard is the admission plugin. What an object said before may stay, whoever changes
// the rest.
type Guard struct {
	May authz.Authorizer
}

// Name implements [admission.Plugin].
func (Guard) Name() string { return order.ModulePermission }

// Validate implements [admission.Validator].
func (g Guard) Validate(ctx context.Context, a admission.Attributes) error {
	gr := a.GetResource().GroupResource()
	if a.GetObject() == nil || a.GetSubresource() != "" || a.IsOwn() || gr != gvr.Modules && !module.Refers(gr) {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	if old == nil {
		old = &unstructured.Unstructured{}
	}
	u := a.GetUserInfo()
	w := write{a, &authn.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}, old}
	if gr == gvr.Modules {
		return g.grants(ctx, w)
	}
	return g.use(ctx, w)
}

// write is a write of what names modules, or of one.
type write struct {
	admission.Attributes
	by  *authn.User
	old *unstructured.Unstructured
}

// use refuses modules that the writer may not use.
func (g Guard) use(ctx context.Context, w write) error {
	gr := w.GetResource().GroupResource()
	before := module.References(gr, w.old.Object)
	for _, ref := range module.References(gr, w.GetObject().Object) {
		if slices.ContainsFunc(before, func(r module.Reference) bool { return r.Module == ref.Module && r.Hook == ref.Hook }) {
			continue
		}
		asked := authz.Attributes{User: w.by, Verb: "use", Group: gvr.Modules.Group, Version: "v1", Resource: gvr.Modules.Resource, Name: ref.Module, ResourceRequest: true}
		if err := g.refused(ctx, w, ref.Path, asked); err != nil {
			return err
		}
	}
	return nil
}

// grants refuses objects that the writer may not read.
func (g Guard) grants(ctx context.Context, w write) error {
	before := module.GrantsOf(w.old)
	for i, grant := range module.GrantsOf(w.GetObject()) {
		for _, name := range grant.Names {
			if plugins.Granted(before, plugins.Object{Group: grant.Group, Resource: grant.Resource, Namespace: grant.Namespace, Name: name}) {
				continue
			}
			asked := authz.Attributes{
				User: w.by, Verb: "get", Group: grant.Group, Version: "*", Resource: grant.Resource,
				Namespace: whichever(grant.Namespace), Name: whichever(name), ResourceRequest: true,
			}
			if err := g.refused(ctx, w, field.NewPath("spec", "grants").Index(i), asked); err != nil {
				return err
			}
		}
	}
	return nil
}

// whichever is how a question means all of them.
func whichever(name string) string {
	if name == "*" {
		return ""
	}
	return name
}

// refused is why the writer may not say what is at a path.
func (g Guard) refused(ctx context.Context, w write, at *field.Path, asked authz.Attributes) error {
	allowed, reason, err := g.May.Authorize(ctx, asked)
	if allowed {
		return nil
	}
	if err != nil && reason == "" {
		reason = err.Error()
	}
	text := fmt.Sprintf("%s: %s", at, authz.Refusal(asked))
	if reason != "" {
		text += ": " + reason
	}
	return apierrors.NewForbidden(w.GetResource().GroupResource(), w.GetName(), errors.New(text))
}
