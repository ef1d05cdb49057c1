package query

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Write reads the options of create, update and patch, of which kind is the name of
// the one that is meant. applies tells a patch that is an apply.
func (p Parameters) Write(kind string, applies bool) (o resource.WriteOptions, err error) {
	if p.err != nil || len(p.values) == 0 && !applies {
		return o, p.err
	}
	var said metav1.PatchOptions // the options of a creation and of an update are part of it
	if err := metav1.Convert_url_Values_To_v1_PatchOptions(&p.values, &said, nil); err != nil {
		return o, apierrors.NewBadRequest(err.Error())
	}
	if errs := validWrite(&said, kind, applies); len(errs) > 0 {
		return o, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
	}
	o.DryRun, o.FieldValidation = len(said.DryRun) > 0, said.FieldValidation
	o.Caller.FieldManager, o.Caller.Force = said.FieldManager, applies && said.Force != nil && *said.Force
	return o, nil
}

// validWrite is what is wrong with the options of a write, in kube-apiserver's
// order.
func validWrite(o *metav1.PatchOptions, kind string, applies bool) field.ErrorList {
	if kind != "PatchOptions" {
		return validation.ValidateCreateOptions(&metav1.CreateOptions{DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation})
	}
	of := types.MergePatchType
	if applies {
		of = types.ApplyYAMLPatchType
	}
	return validation.ValidatePatchOptions(o, of)
}

// Delete reads the options of a deletion that has no body. The engine says what is
// wrong with them.
func (p Parameters) Delete() (*metav1.DeleteOptions, error) {
	if p.err != nil {
		return nil, p.err
	}
	o := &metav1.DeleteOptions{}
	if err := internalscheme.ParameterCodec.DecodeParameters(p.values, metav1.SchemeGroupVersion, o); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return o, nil
}
