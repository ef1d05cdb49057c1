// Package permission owns who may let modules work: who refers to one, or has it sent more,
// needs the verb use on it, who grants one the sight of objects, has one show a Secret to
// a registry, or names content that others stored, may read these, and who lets one take more than modules do that set nothing
// needs the verb exceed on it.
//
// It must not know how a request is decided on, nor what a module is.
package permission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/blob"
)

// Guard is the admission plugin. What an object said before may stay, whoever changes
// the rest.
type Guard struct {
	May authz.Authorizer
	// Stored finds content that is stored, with its size, as blob.Blobs does.
	Stored func(ctx context.Context, digest string) (size int, write func(context.Context, io.Writer) error, err error)
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
		if err := g.grants(ctx, w); err != nil {
			return err
		}
		if err := g.secret(ctx, w); err != nil {
			return err
		}
		if err := g.content(ctx, w); err != nil {
			return err
		}
		return g.limits(ctx, w)
	}
	return g.use(ctx, w)
}

// write is a write of what names modules, or of one.
type write struct {
	admission.Attributes
	by  *authn.User
	old *unstructured.Unstructured
}

// called is a module, and what for.
type called struct {
	module string
	hook   plugins.Hook
}

// use refuses rules and modules that the writer may not use: those that the object did not name
// before, or is to send more than it did.
func (g Guard) use(ctx context.Context, w write) error {
	gr := w.GetResource().GroupResource()
	before := map[called][]module.Sent{}
	for _, r := range module.References(gr, w.old.Object) {
		c := called{r.Module, r.Hook}
		before[c] = append(before[c], r.Sends...)
	}
	for _, ref := range module.References(gr, w.GetObject().Object) {
		sent, was := before[called{ref.Module, ref.Hook}]
		if was && !slices.ContainsFunc(ref.Sends, func(s module.Sent) bool { return !s.Within(sent) }) {
			continue
		}
		if err := g.refused(ctx, w, ref.Path, w.asks("use", ref.Module)); err != nil {
			return err
		}
	}
	name, ok := rulesOf(gr, w.GetObject())
	if had, was := rulesOf(gr, w.old); !ok || was && had == name {
		return nil
	}
	return g.refused(ctx, w, field.NewPath("spec", "conversion", "webhook", "clientConfig", "url"), authz.Attributes{
		User: w.by, Verb: "use", Group: gvr.Rules.Group, Version: "v1", Resource: gvr.Rules.Resource, Name: name, ResourceRequest: true,
	})
}

// rulesOf are the conversion rules that a definition names.
func rulesOf(gr schema.GroupResource, obj *unstructured.Unstructured) (name string, ok bool) {
	if gr != gvr.Definitions {
		return "", false
	}
	url, _, _ := unstructured.NestedString(obj.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	return crd.RulesName(url)
}

// limits refuses limits above those of a module that sets none, and above what it had, to
// who may not exceed them. Without a limit of fuel there is none, so nothing is above it.
func (g Guard) limits(ctx context.Context, w write) error {
	before, now := module.LimitsOf(w.old), module.LimitsOf(w.GetObject())
	for _, l := range []struct {
		field              string
		usual, before, now int64
	}{
		{"memory", plugins.DefaultMemoryBytes, before.MemoryBytes, now.MemoryBytes},
		{"timeout", int64(plugins.DefaultTimeout), int64(before.Timeout), int64(now.Timeout)},
		{"responseSize", plugins.DefaultResponseBytes, before.ResponseBytes, now.ResponseBytes},
	} {
		if l.now <= max(l.usual, l.before) {
			continue
		}
		if err := g.refused(ctx, w, field.NewPath("spec", "limits", l.field), w.asks("exceed", w.GetName())); err != nil {
			return err
		}
	}
	return nil
}

// asks is whether the writer may do something to a module.
func (w write) asks(verb, name string) authz.Attributes {
	return authz.Attributes{User: w.by, Verb: verb, Group: gvr.Modules.Group, Version: "v1", Resource: gvr.Modules.Resource, Name: name, ResourceRequest: true}
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

// secret refuses a Secret that the writer may not read, and to have it open a repository
// that it was not there for: its content would be the writer's.
func (g Guard) secret(ctx context.Context, w write) error {
	type use struct {
		secret     types.NamespacedName
		repository string
	}
	of := func(obj *unstructured.Unstructured) use {
		image, _ := module.Image(obj)
		return use{module.PullSecret(obj), module.Repository(image)}
	}
	now := of(w.GetObject())
	if now.secret.Name == "" || now == of(w.old) {
		return nil
	}
	return g.refused(ctx, w, field.NewPath("spec", "source", "oci", "pullSecret"), authz.Attributes{
		User: w.by, Verb: "get", Group: gvr.Secrets.Group, Version: "v1", Resource: gvr.Secrets.Resource,
		Namespace: now.secret.Namespace, Name: now.secret.Name, ResourceRequest: true,
	})
}

// content refuses content that is stored and was never this module's to who may not get
// that of every module: it would be the writer's, who knows no more of it than its digest.
func (g Guard) content(ctx context.Context, w write) error {
	own := module.Digests(w.old, blob.Digest)
	for _, digest := range module.Claims(ctx, w.GetObject()) {
		if slices.Contains(own, digest) {
			continue
		}
		_, _, err := g.Stored(ctx, digest)
		if kind := storage.KindOf(err); err != nil && (kind == storage.NotFound || kind == 0) {
			continue // it is not there, damaged, or no digest: whoever has it may upload it
		}
		asked := w.asks("get", "")
		asked.Subresource = "content"
		if err := g.refused(ctx, w, field.NewPath("metadata", "annotations").Key(module.ContentAnnotation), asked); err != nil {
			return err
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
