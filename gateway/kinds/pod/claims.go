package pod

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

var claims = schema.GroupResource{Group: resourcev1.GroupName, Resource: "resourceclaims"}

// DeviceStatus is the admission plugin by which who allocates or reserves the devices of a
// claim may do so to all claims (resourceclaims/binding), and who reports on a device may
// for its driver (resourceclaims/driver): KEP-4817.
type DeviceStatus struct{ May authz.Authorizer }

// Name implements [admission.Plugin].
func (DeviceStatus) Name() string { return order.DeviceStatus }

// Mutate implements [admission.Mutator]. It changes nothing.
func (p DeviceStatus) Mutate(ctx context.Context, a admission.Attributes) error {
	if a.GetResource().GroupResource() != claims || a.GetSubresource() != "status" || a.GetOperation() != admission.Update {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	before, now := object.Child(old.Object, "status"), object.Child(a.GetObject().Object, "status")
	u, asked := a.GetUserInfo(), authz.Attributes{Verb: a.GetVerb(), Group: claims.Group, Version: a.GetResource().Version, Resource: claims.Resource, ResourceRequest: true}
	asked.User = &authn.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}
	p.bound(ctx, a, asked, before, now)
	if now["allocation"] != nil { // else what was said of devices goes with it
		p.reported(ctx, a, asked, before, now)
	}
	return nil
}

// bound finds a mistake in a change of what is allocated and reserved.
func (p DeviceStatus) bound(ctx context.Context, a admission.Attributes, asked authz.Attributes, before, now map[string]any) {
	if equality.Semantic.DeepEqual(before["allocation"], now["allocation"]) && equality.Semantic.DeepEqual(items(before, "reservedFor"), items(now, "reservedFor")) {
		return
	}
	asked.Subresource = resourcev1.SubresourceBinding
	if why := p.refused(ctx, asked); why != nil {
		a.AddErrors(field.Forbidden(field.NewPath("status", "allocation"),
			fmt.Sprintf("changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", verb=\"%s\" permission: %s", asked.Verb, why)))
	}
}

// reported finds mistakes in changes of what drivers say of devices.
func (p DeviceStatus) reported(ctx context.Context, a admission.Attributes, asked authz.Attributes, before, now map[string]any) {
	verbs := []string{resourcev1.VerbPrefixArbitraryNode + asked.Verb}
	if node := nodeOf(object.Child(now, "allocation")); node != "" && runsOn(asked.User, node) {
		verbs = []string{resourcev1.VerbPrefixAssociatedNode + asked.Verb, verbs[0]}
	}
	asked.Subresource, asked.Namespace = resourcev1.SubresourceDriver, a.GetNamespace()
	for _, asked.Name = range changedDrivers(devices(before), devices(now)) {
		var first error
		for i := 0; i < len(verbs) && (i == 0 || first != nil); i++ {
			asked.Verb = verbs[i]
			switch why := p.refused(ctx, asked); {
			case why == nil:
				first = nil
			case first == nil:
				first = why
			}
		}
		if first != nil {
			a.AddErrors(field.Forbidden(field.NewPath("status", "devices"),
				fmt.Sprintf("changing status.devices requires resource=\"resourceclaims/driver\", verb=\"%s\" permission: %s", verbs, first)))
		}
	}
}

// refused is nil for what is allowed.
func (p DeviceStatus) refused(ctx context.Context, asked authz.Attributes) error {
	allowed, reason, err := p.May.Authorize(ctx, asked)
	switch {
	case allowed:
		return nil
	case err != nil && reason != "":
		reason = fmt.Sprintf("%v: %s", err, reason)
	case err != nil:
		reason = err.Error()
	}
	return authz.ForbiddenError(asked, reason)
}

// device names a device, or a share of one.
type device struct{ driver, pool, device, share string }

// devices are what drivers say of devices.
func devices(status map[string]any) map[device]any {
	out := map[device]any{}
	for _, d := range object.Objects(status["devices"]) {
		out[device{object.TextAt(d, "driver"), object.TextAt(d, "pool"), object.TextAt(d, "device"), object.TextAt(d, "shareID")}] = d
	}
	return out
}

// changedDrivers are the drivers of devices of which something else is said, in order.
func changedDrivers(before, now map[device]any) []string {
	changed := sets.New[string]()
	for d, said := range now {
		if old, known := before[d]; !known || !equality.Semantic.DeepEqual(old, said) {
			changed.Insert(d.driver)
		}
	}
	for d := range before {
		if _, still := now[d]; !still {
			changed.Insert(d.driver)
		}
	}
	return sets.List(changed)
}

// nodeOf is the node that an allocation is for, "" where it is not for just one by name.
func nodeOf(allocation map[string]any) string {
	terms := items(object.Child(allocation, "nodeSelector"), "nodeSelectorTerms")
	if len(terms) != 1 {
		return ""
	}
	term, _ := terms[0].(map[string]any)
	fields := items(term, "matchFields")
	if len(fields) != 1 || len(items(term, "matchExpressions")) != 0 {
		return ""
	}
	f, _ := fields[0].(map[string]any)
	values := items(f, "values")
	if object.TextAt(f, "key") != "metadata.name" || object.TextAt(f, "operator") != "In" || len(values) != 1 {
		return ""
	}
	name, _ := values[0].(string)
	return name
}

// runsOn reports whether a user is the account of a pod on a node, by its token.
func runsOn(u *authn.User, node string) bool {
	_, _, account := authn.ServiceAccount(u.Name)
	on := u.Extra[authn.NodeNameKey]
	return account && len(on) == 1 && on[0] == node
}

func items(of map[string]any, name string) []any {
	list, _ := of[name].([]any)
	return list
}
