package plugin

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/quantity"
)

// PersistentVolumeClaimResize refuses to let a claim grow that is not bound, or of a
// class whose volumes cannot.
type PersistentVolumeClaimResize struct{ Classes Reader }

// Name implements [admission.Plugin].
func (PersistentVolumeClaimResize) Name() string { return order.PersistentVolumeClaimResize }

// Validate implements [admission.Validator].
func (p PersistentVolumeClaimResize) Validate(ctx context.Context, a admission.Attributes) error {
	if a.GetOperation() != admission.Update || a.GetResource().GroupResource() != volumeClaims.kind || a.GetSubresource() != "" {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	refuse := func(why error) error {
		return apierrors.NewForbidden(volumeClaims.kind, admission.NameOf(a), why)
	}
	was, err := storageOf(old.Object)
	if err != nil {
		return refuse(err)
	}
	now, err := storageOf(a.GetObject().Object)
	switch {
	case err != nil:
		return refuse(err)
	case now.Cmp(was) <= 0:
		return nil
	case object.TextAt(object.Child(old.Object, "status"), "phase") != string(corev1.ClaimBound):
		//lint:ignore ST1005 as kube-apiserver says it
		return refuse(errors.New("Only bound persistent volume claims can be expanded"))
	}
	class, _ := volumeClaims.classOf(a.GetObject().Object).(string)
	grows, err := p.grow(ctx, class)
	switch {
	case err != nil:
		return err
	case !grows || class != volumeClaims.classOf(old.Object):
		return refuse(errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"))
	}
	return nil
}

// grow tells that the volumes of a class can.
func (p PersistentVolumeClaimResize) grow(ctx context.Context, class string) (bool, error) {
	if class == "" {
		return false, nil
	}
	if err := p.Classes.Fresh(ctx); err != nil {
		return false, err
	}
	found, err := p.Classes.Get(ctx, volumeClaims.classes, "", class)
	if apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	can, _ := found.Object["allowVolumeExpansion"].(bool)
	return can, nil
}

// storageOf is how much a claim asks for.
func storageOf(claim map[string]any) (resource.Quantity, error) {
	asked, has := object.Child(object.Child(object.Child(claim, "spec"), "resources"), "requests")["storage"]
	if !has {
		return resource.Quantity{}, nil
	}
	text := fmt.Sprint(asked)
	if err := quantity.Check(text); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}
