package escalation

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Roles finds the roles that bindings are about.
type Roles interface {
	client.Getter
	client.Freshener
}

// Guard is the admission plugin.
type Guard struct {
	May   authz.Decider
	Roles Roles
}

// Name implements [admission.Plugin].
func (Guard) Name() string { return order.RoleEscalation }

// Mutate implements [admission.Mutator]. It changes nothing: what is refused is what
// others made of the object.
func (g Guard) Mutate(ctx context.Context, a admission.Attributes) error {
	gr := a.GetResource().GroupResource()
	if gr.Group != rbacv1.GroupName || a.GetSubresource() != "" || a.GetObject() == nil || a.IsOwn() {
		return nil
	}
	by := &authn.User{Name: a.GetUserInfo().GetName(), UID: a.GetUserInfo().GetUID(), Groups: a.GetUserInfo().GetGroups(), Extra: a.GetUserInfo().GetExtra()}
	if by.In(authn.Masters) {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	if old != nil && onlyHeldUp(a.GetObject(), old) {
		return nil
	}
	w := write{a, gr, by, old}
	switch gr {
	case gvr.Roles, gvr.ClusterRoles:
		return g.role(ctx, w)
	case gvr.RoleBindings, gvr.ClusterRoleBindings:
		return g.binding(ctx, w)
	}
	return nil
}

// write is a write of a role or a binding.
type write struct {
	admission.Attributes
	gr  schema.GroupResource
	by  *authn.User
	old *unstructured.Unstructured
}

// onlyHeldUp reports whether a change is one of what holds an object's deletion up: the
// garbage collector makes it without having what the object grants.
func onlyHeldUp(obj, old *unstructured.Unstructured) bool {
	like := obj.DeepCopy()
	like.SetOwnerReferences(old.GetOwnerReferences())
	like.SetFinalizers(old.GetFinalizers())
	return equality.Semantic.DeepEqual(like.Object, old.Object)
}

// role lets those write a role who may escalate it, or have what it grants.
func (g Guard) role(ctx context.Context, w write) error {
	// By name only where the path has one: kube-apiserver knows no other here.
	if g.may(ctx, w, "escalate", w.gr, w.GetRequestName()) {
		return nil
	}
	var role, old rbacv1.ClusterRole
	if err := gvr.Decode(w.GetObject(), &role); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if w.old != nil {
		if err := gvr.Decode(w.old, &old); err != nil {
			return err
		}
	}
	if err := g.holds(ctx, w, role.Rules); err != nil {
		return w.forbidden(ctx, err)
	}
	if w.gr == gvr.ClusterRoles && (aggregates(role) || aggregates(old)) && g.holds(ctx, w, everything) != nil {
		return w.forbidden(ctx, errors.New("must have cluster-admin privileges to use the aggregationRule"))
	}
	return nil
}

// everything is what one has to hold to have a role gather whatever there will be.
var everything = []rbacv1.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}

func aggregates(role rbacv1.ClusterRole) bool {
	return role.AggregationRule != nil && len(role.AggregationRule.ClusterRoleSelectors) > 0
}

// binding lets those bind somebody to a role who may bind it, or have what it grants.
func (g Guard) binding(ctx context.Context, w write) error {
	var binding rbacv1.RoleBinding
	if err := gvr.Decode(w.GetObject(), &binding); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	of, namespace := gvr.ClusterRoles, ""
	switch ref := binding.RoleRef; {
	case ref.Name == "", ref.Kind != "ClusterRole" && (ref.Kind != "Role" || w.gr != gvr.RoleBindings):
		return nil // validation refuses it
	case ref.Kind == "Role":
		of, namespace = gvr.Roles, w.GetNamespace()
	}
	asked := of
	asked.Group = binding.RoleRef.APIGroup
	if g.may(ctx, w, "bind", asked, binding.RoleRef.Name) {
		return nil
	}
	// What has been acknowledged counts, whichever gateway wrote it.
	if err := g.Roles.Fresh(ctx); err != nil {
		return err
	}
	obj, err := g.Roles.Get(ctx, of, namespace, binding.RoleRef.Name)
	if apierrors.IsNotFound(err) {
		return apierrors.NewNotFound(w.gr, binding.RoleRef.Name) // named after the binding, as by kube-apiserver
	}
	if err != nil {
		return err
	}
	var role rbacv1.ClusterRole
	if err := gvr.Decode(obj, &role); err != nil {
		return err
	}
	if err := g.holds(ctx, w, role.Rules); err != nil {
		return w.forbidden(ctx, err)
	}
	return nil
}

// may asks about a verb that is about the rights of others.
func (g Guard) may(ctx context.Context, w write, verb string, gr schema.GroupResource, name string) bool {
	// What is not known is not held, and is told where it is missing.
	allowed, _, _ := g.May.Authorize(ctx, authz.Attributes{
		User: w.by, Verb: verb, Group: gr.Group, Version: "*", Resource: gr.Resource, Namespace: w.GetNamespace(), Name: name, ResourceRequest: true,
	})
	return allowed
}

// most bounds how many single rights what is granted may come to: a list of groups, one
// of resources and one of verbs are all their combinations.
const most = 50_000

// holds fails for rules that the writer does not hold, where the object is.
func (g Guard) holds(ctx context.Context, w write, rules []rbacv1.PolicyRule) error {
	if n := rights(rules); n > most {
		return fmt.Errorf("the rules combine to more than %d rights, which are too many to be compared with those of user %q: divide them among several roles", most, w.by.Name)
	}
	held, err := g.May.Rules(w.by, w.GetNamespace())
	missing, late := lacking(ctx, held, rules)
	switch {
	case late != nil:
		return fmt.Errorf("the rules are too many to be compared with those of user %q: %w: divide them among several roles", w.by.Name, late)
	case len(missing) == 0:
		return nil
	}
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s", w.by.Name, w.by.Groups, describe(missing))
	if err != nil {
		text += fmt.Sprintf("; resolution errors: [%v]", excerpt.Errors(each(err)))
	}
	return errors.New(text)
}

// each are the errors that one joins.
func each(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range all.Unwrap() {
			out = append(out, each(e)...)
		}
		return out
	}
	return []error{err}
}

// rights is how many combinations rules are; above most it is some number above it.
func rights(rules []rbacv1.PolicyRule) (n int) {
	for _, r := range rules {
		of := 1
		for _, list := range [][]string{r.APIGroups, r.Resources, r.Verbs, r.ResourceNames} {
			of = min(of*max(1, len(list)), most+1)
		}
		if n += of + min(len(r.NonResourceURLs)*len(r.Verbs), most+1); n > most {
			return n
		}
	}
	return n
}

// forbidden is a refusal, but for who came too late to be told whether it is one.
func (w write) forbidden(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
	}
	return apierrors.NewForbidden(w.gr, w.GetName(), err)
}
