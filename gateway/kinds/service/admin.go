package service

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
)

var (
	namespaces     = schema.GroupResource{Resource: "namespaces"}
	claims         = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}
	claimTemplates = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaimtemplates"}
)

// adminLabel is the label by which a namespace is for those who may reach devices
// that are in use.
const adminLabel = "resource.kubernetes.io/admin-access"

// claim finds a mistake in a claim, or a template of claims, that asks for admin
// access to a device in a namespace without the label for it. Only a creation can
// ask for that: specs do not change.
func (a *Assigner) claim(ctx context.Context, w admission.Attributes, tree map[string]any) error {
	if w.GetOperation() != admission.Create {
		return nil
	}
	spec := child(tree, "spec")
	if w.GetResource().GroupResource() == claimTemplates {
		spec = child(spec, "spec")
	}
	requests, _ := child(spec, "devices")["requests"].([]any)
	for i, r := range requests {
		r, _ := r.(map[string]any)
		if isAdmin(child(r, "exactly")) {
			// The path is that of a claim in a template, too, as kube-apiserver has it.
			return a.mustBeAdmins(ctx, w, field.NewPath("spec", "devices", "requests").Index(i))
		}
	}
	return nil
}

// claimStatus finds one in what was allocated, unless it was allocated before.
func (a *Assigner) claimStatus(ctx context.Context, w admission.Attributes, tree map[string]any) error {
	i := adminResult(tree)
	if i < 0 {
		return nil
	}
	old, err := w.GetOldObject(ctx)
	if err != nil || old != nil && adminResult(old.Object) >= 0 {
		return err
	}
	return a.mustBeAdmins(ctx, w, field.NewPath("status", "allocation", "devices", "results").Index(i))
}

// adminResult is the index of the first device of a claim that was allocated with
// admin access, -1 for none.
func adminResult(claim map[string]any) int {
	results, _ := child(child(child(claim, "status"), "allocation"), "devices")["results"].([]any)
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
func (a *Assigner) mustBeAdmins(ctx context.Context, w admission.Attributes, at *field.Path) error {
	if err := a.objects.Fresh(ctx); err != nil {
		return err
	}
	ns, err := a.objects.Get(ctx, namespaces, "", w.GetNamespace())
	if err != nil {
		return err
	}
	if ns.GetLabels()[adminLabel] != "true" {
		w.AddErrors(field.Forbidden(at.Child("adminAccess"), fmt.Sprintf("admin access to devices requires the `%s: true` label on the containing namespace", adminLabel)))
	}
	return nil
}
