package policy

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Policies finds the policies that bindings are about.
type Policies interface {
	client.Getter
	client.Freshener
}

// Parameters is the admission plugin by which who writes a policy or a binding may read
// the parameters that it names: those are read with the gateway's own rights, and the
// policy's messages may tell what they say.
type Parameters struct {
	May      authz.Authorizer
	Policies Policies
	// Served are the definitions of the kinds that there are.
	Served func() []*crd.Definition
}

// Name implements [admission.Plugin].
func (Parameters) Name() string { return order.PolicyParameters }

// policiesOf are the kinds of policies, by those of their bindings.
var policiesOf = map[schema.GroupResource]schema.GroupResource{
	gvr.ValidatingPolicyBindings: gvr.ValidatingPolicies,
	gvr.MutatingPolicyBindings:   gvr.MutatingPolicies,
}

// Validate implements [admission.Validator]. What it is asked about is valid otherwise.
func (p Parameters) Validate(ctx context.Context, a admission.Attributes) error {
	gr := a.GetResource().GroupResource()
	if gr.Group != admissionv1.GroupName || a.GetSubresource() != "" || a.GetObject() == nil || a.IsOwn() {
		return nil
	}
	who := a.GetUserInfo()
	w := write{a, &authn.User{Name: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: who.GetExtra()}}
	if w.by.In(authn.Masters) {
		return nil
	}
	if gr == gvr.ValidatingPolicies || gr == gvr.MutatingPolicies {
		return p.policy(ctx, w)
	}
	if policies, is := policiesOf[gr]; is {
		return p.binding(ctx, w, policies)
	}
	return nil
}

// write is a write of a policy or a binding.
type write struct {
	admission.Attributes
	by *authn.User
}

// user is how refusals name who writes: by all that is known of them, as kube-apiserver does.
func (w write) user() string {
	return fmt.Sprint(&struct {
		name, uid string
		groups    []string
		extra     map[string][]string
	}{w.by.Name, w.by.UID, w.by.Groups, w.by.Extra})
}

// refused is the refusal of a field of the spec.
func (w write) refused(name, format string, args ...any) error {
	reason := field.Forbidden(field.NewPath("spec", name), fmt.Sprintf(format, args...))
	return apierrors.NewInvalid(w.GetKind().GroupKind(), w.GetObject().GetName(), field.ErrorList{reason})
}

// policy lets those name a kind who may read all of it; who leaves it as it was is not asked.
func (p Parameters) policy(ctx context.Context, w write) error {
	var now, was admissionv1.ValidatingAdmissionPolicy // whose paramKind is that of the others
	if err := gvr.Decode(w.GetObject(), &now); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	old, err := w.GetOldObject(ctx)
	if err == nil && old != nil {
		err = gvr.Decode(old, &was)
	}
	kind, had := now.Spec.ParamKind, was.Spec.ParamKind
	if err != nil || kind == nil || had != nil && *had == *kind {
		return err
	}
	asked, _ := p.read(kind)
	asked.User, asked.Verb, asked.Namespace, asked.Name = w.by, "get", "*", "*"
	switch allowed, _, err := p.May.Authorize(ctx, asked); {
	case err != nil:
		return w.refused("paramKind", "%v", err)
	case !allowed:
		return w.refused("paramKind", `user %s must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`, w.user(), kind.Kind, kind.APIVersion)
	}
	return nil
}

// binding lets those name parameters who may read them. It asks about every change, as
// kube-apiserver does: what else a binding says decides on who sees the policy's messages.
func (p Parameters) binding(ctx context.Context, w write, policies schema.GroupResource) error {
	var now admissionv1.ValidatingAdmissionPolicyBinding // whose paramRef is that of the others
	if err := gvr.Decode(w.GetObject(), &now); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	ref := now.Spec.ParamRef
	if ref == nil {
		return nil
	}
	kind, missing, err := p.paramKind(ctx, policies, now.Spec.PolicyName)
	if err != nil {
		return err
	}
	asked, known := p.read(kind)
	asked.User, asked.Verb, asked.Namespace, asked.Name = w.by, "get", ref.Namespace, ref.Name
	if ref.Name == "" {
		asked.Verb = "list"
	}
	const all = `to determine minimum required permissions and user %s does not have "%s" permission for all groups, versions and resources`
	switch allowed, _, err := p.May.Authorize(ctx, asked); {
	case err != nil:
		return w.refused("paramRef", "failed to authorize request: %v", err)
	case allowed:
		return nil
	case missing:
		return w.refused("paramRef", "unable to get policy %s "+all, now.Spec.PolicyName, w.user(), asked.Verb)
	case !known:
		return w.refused("paramRef", "unable to resolve paramKind %v "+all, &struct{ APIVersion, Kind string }{kind.APIVersion, kind.Kind}, w.user(), asked.Verb)
	}
	return w.refused("paramRef", `user %s does not have "%s" permission on the object referenced by paramRef`, w.user(), asked.Verb)
}

// paramKind is that of a policy, nil where it has none or is missing.
func (p Parameters) paramKind(ctx context.Context, policies schema.GroupResource, name string) (kind *admissionv1.ParamKind, missing bool, err error) {
	// What has been acknowledged counts, whichever gateway wrote it.
	if err := p.Policies.Fresh(ctx); err != nil {
		return nil, false, err
	}
	obj, err := p.Policies.Get(ctx, policies, "", name)
	if apierrors.IsNotFound(err) {
		return nil, true, nil
	}
	var found admissionv1.ValidatingAdmissionPolicy
	if err == nil {
		err = gvr.Decode(obj, &found)
	}
	return found.Spec.ParamKind, false, err
}

// read is the question whether somebody may read a kind, and whether that is served. What
// is not known may be anything.
func (p Parameters) read(kind *admissionv1.ParamKind) (asked authz.Attributes, known bool) {
	asked = authz.Attributes{Group: "*", Version: "*", Resource: "*", ResourceRequest: true}
	if kind == nil {
		return asked, true
	}
	gv, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		return asked, false
	}
	asked.Group, asked.Version = gv.Group, gv.Version
	for _, d := range p.Served() {
		if v := d.In(gv.Group, gv.Version); v != nil && v.Served && d.Kind == kind.Kind {
			asked.Resource = d.Plural
			return asked, true
		}
	}
	return asked, false
}
