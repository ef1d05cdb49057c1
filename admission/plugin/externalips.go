package plugin

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

// DenyServiceExternalIPs refuses services that ask for addresses from outside of the
// cluster, which may be somebody else's; those that a service has, it may keep
// (CVE-2020-8554).
type DenyServiceExternalIPs struct{}

// Name implements [admission.Plugin].
func (DenyServiceExternalIPs) Name() string { return order.DenyServiceExternalIPs }

// Validate implements [admission.Validator].
func (DenyServiceExternalIPs) Validate(ctx context.Context, a admission.Attributes) error {
	gr := schema.GroupResource{Resource: "services"}
	if a.GetResource().GroupResource() != gr || a.GetSubresource() != "" || a.GetOperation() == admission.Delete {
		return nil
	}
	wanted := externalIPs(a.GetObject().Object)
	if len(wanted) == 0 {
		return nil
	}
	had := sets.New[string]()
	if old, err := a.GetOldObject(ctx); err != nil {
		return err
	} else if old != nil {
		had.Insert(externalIPs(old.Object)...)
	}
	if had.HasAll(wanted...) {
		return nil
	}
	//lint:ignore ST1005 as kube-apiserver says it
	return apierrors.NewForbidden(gr, admission.NameOf(a), errors.New("Use of external IPs is denied by admission control"))
}

func externalIPs(service map[string]any) (out []string) {
	all, _ := object.Child(service, "spec")["externalIPs"].([]any)
	for _, ip := range all {
		ip, _ := ip.(string)
		out = append(out, ip)
	}
	return out
}
