package plugin

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

var (
	claims         = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}
	claimTemplates = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaimtemplates"}
)

// adminLabel is the label by which a namespace is for those who may reach devices
// that are in use.
const adminLabel = "resource.kubernetes.io/admin-access"

// DeviceAdmin finds mistakes in claims, and templates of claims, that ask for admin
// access to a device, or were given it, in a namespace without the label for it.
type DeviceAdmin struct{ Namespaces Reader }

// Name implements [admission.Plugin].
func (DeviceAdmin) Name() string { return order.DeviceAdmin }

// Mutate implements [admission.Mutator]. It changes nothing.
func (p DeviceAdmin) Mutate(ctx context.Context, a admission.Attributes) error {
	gr := a.GetResource().GroupResource()
	if gr.Group != claims.Group || a.GetObject() == nil {
		return nil
	}
	switch tree, subresource := a.GetObject().Object, a.GetSubresource(); {
	case gr == claims && subresource == "status":
		return p.allocated(ctx, a, tree)
	case subresource != "" || a.GetOperation() != admission.Create: // specs do not change
		return nil
	case gr == claims:
		return p.claimed(ctx, a, object.Child(tree, "spec"))
	case gr == claimTemplates:
		return p.claimed(ctx, a, object.Child(object.Child(tree, "spec"), "spec"))
	}
	return nil
}

// claimed finds a mistake in the spec of a claim.
func (p DeviceAdmin) claimed(ctx context.Context, a admission.Attributes, spec map[string]any) error {
	requests, _ := object.Child(spec, "devices")["requests"].([]any)
	for i, r := range requests {
		r, _ := r.(map[string]any)
		if isAdmin(object.Child(r, "exactly")) {
			// The path is that of a claim in a template, too, as kube-apiserver has it.
			return p.mustBeAdmins(ctx, a, field.NewPath("spec", "devices", "requests").Index(i))
		}
	}
	return nil
}

// allocated finds one in what was allocated, unless it was allocated before.
func (p DeviceAdmin) allocated(ctx context.Context, a admission.Attributes, tree map[string]any) error {
	i := adminResult(tree)
	if i < 0 {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil || old != nil && adminResult(old.Object) >= 0 {
		return err
	}
	return p.mustBeAdmins(ctx, a, field.NewPath("status", "allocation", "devices", "results").Index(i))
}

// adminResult is the index of the first device of a claim that was allocated with
// admin access, -1 for none.
func adminResult(claim map[string]any) int {
	results, _ := object.Child(object.Child(object.Child(claim, "status"), "allocation"), "devices")["results"].([]any)
	for i, r := range results {
		if r, _ := r.(map[string]any); isAdmin(r) {
			return i
		}
	}
	return -1
}

func isAdmin(of map[string]any) bool {
	wanted, _ := of["adminAccess"].(bool)
	return wanted
}

// mustBeAdmins finds a mistake at a path unless the namespace has the label, now
// and not some time ago.
func (p DeviceAdmin) mustBeAdmins(ctx context.Context, a admission.Attributes, at *field.Path) error {
	if err := p.Namespaces.Fresh(ctx); err != nil {
		return err
	}
	ns, err := p.Namespaces.Get(ctx, namespaces, "", a.GetNamespace())
	if err != nil {
		return err
	}
	if ns.GetLabels()[adminLabel] != "true" {
		a.AddErrors(field.Forbidden(at.Child("adminAccess"), fmt.Sprintf("admin access to devices requires the `%s: true` label on the containing namespace", adminLabel)))
	}
	return nil
}
