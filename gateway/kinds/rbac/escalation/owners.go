package escalation

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Owners is the admission plugin by which who changes whose dependent an object is may
// delete it, and who has it hold up the deletion of an owner may write the owner's
// finalizers, which would do the same.
type Owners struct {
	May authz.Authorizer
	// Served are the definitions of the kinds that there are.
	Served func() []*crd.Definition
}

// Name implements [admission.Plugin].
func (Owners) Name() string { return order.OwnerReferences }

// Validate implements [admission.Validator].
func (o Owners) Validate(ctx context.Context, a admission.Attributes) error {
	at := a.GetResource()
	status := at.GroupResource() == schema.GroupResource{Resource: "pods"} && a.GetSubresource() == "status" // changes no owners
	if operation := a.GetOperation(); operation != admission.Create && operation != admission.Update || status || a.IsOwn() {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	had, has := ownersOf(old), ownersOf(a.GetObject())
	if equality.Semantic.DeepEqual(had, has) {
		return nil
	}
	by := &authn.User{Name: a.GetUserInfo().GetName(), UID: a.GetUserInfo().GetUID(), Groups: a.GetUserInfo().GetGroups(), Extra: a.GetUserInfo().GetExtra()}
	if a.GetOperation() == admission.Update {
		allowed, reason, err := o.May.Authorize(ctx, authz.Attributes{
			User: by, Verb: "delete", Namespace: a.GetNamespace(), Group: at.Group, Version: at.Version, Resource: at.Resource,
			Subresource: a.GetSubresource(), Name: a.GetName(), ResourceRequest: true,
		})
		if !allowed {
			return refusal(a, "cannot set an ownerRef on a resource you can't delete: %v, %v", reason, err)
		}
	}
	return o.holdUp(ctx, a, by, newBlocking(has, had))
}

// holdUp refuses references that hold up owners which the user may not hold up.
func (o Owners) holdUp(ctx context.Context, a admission.Attributes, by *authn.User, blocking []metav1.OwnerReference) error {
	if len(blocking) == 0 {
		return nil
	}
	finalizers := authz.Attributes{User: by, Verb: "update", Group: "*", Version: "*", Resource: "*", Subresource: "finalizers", Name: "*", ResourceRequest: true}
	if allowed, _, _ := o.May.Authorize(ctx, finalizers); allowed {
		return nil
	}
	for _, ref := range blocking {
		all := o.resources(ref)
		if len(all) == 0 {
			gv, _ := schema.ParseGroupVersion(ref.APIVersion) // validation has read it
			missing := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, SearchedVersions: []string{gv.Version}}
			return refusal(a, "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion %s Kind %s: %v", ref.APIVersion, ref.Kind, missing)
		}
		for _, owner := range all {
			owner.User, owner.Verb, owner.Subresource, owner.Name, owner.ResourceRequest = by, "update", "finalizers", ref.Name, true
			if owner.Namespace != "" { // an owner is in the namespace of what it owns
				owner.Namespace = a.GetNamespace()
			}
			if allowed, reason, err := o.May.Authorize(ctx, owner); !allowed {
				return refusal(a, "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: %v, %v", reason, err)
			}
		}
	}
	return nil
}

func refusal(a admission.Attributes, format string, args ...any) error {
	return apierrors.NewForbidden(a.GetResource().GroupResource(), admission.NameOf(a), fmt.Errorf(format, args...))
}

// namespaced stands for the namespace of a dependent.
const namespaced = "*"

// resources are what is served of the kind of an owner. kube-apiserver takes lists for
// kinds, too.
func (o Owners) resources(ref metav1.OwnerReference) (all []authz.Attributes) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil
	}
	for _, d := range o.Served() {
		v := d.In(gv.Group, gv.Version)
		if v == nil || !v.Served {
			continue
		}
		found := authz.Attributes{Group: gv.Group, Version: gv.Version}
		switch {
		case ref.Kind == d.Kind:
			found.Resource = d.Plural
		case ref.Kind == d.Kind+"List" || ref.Kind == "List":
			found.Resource = strings.ToLower(ref.Kind) + "s"
		default:
			continue
		}
		if d.Namespaced && ref.Kind != "List" {
			found.Namespace = namespaced
		}
		all = append(all, found)
	}
	return all
}

func ownersOf(obj *unstructured.Unstructured) []metav1.OwnerReference {
	if obj == nil {
		return nil
	}
	return obj.GetOwnerReferences()
}

// newBlocking are those that hold up their owner, and did not before.
func newBlocking(has, had []metav1.OwnerReference) (out []metav1.OwnerReference) {
	blocks := func(ref metav1.OwnerReference) bool { return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion }
	before := map[types.UID]bool{}
	for _, ref := range had {
		before[ref.UID] = blocks(ref)
	}
	for _, ref := range has {
		if blocks(ref) && !before[ref.UID] {
			out = append(out, ref)
		}
	}
	return out
}
