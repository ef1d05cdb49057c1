package query

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// List reads and validates the options of list, watch and deletecollection.
// streamed: a watch may begin with what exists. What is a watch by its path alone is
// judged like a list, as by kube-apiserver.
func (p Parameters) List(watch, streamed bool) (*internalversion.ListOptions, error) {
	if p.err != nil {
		return nil, p.err
	}
	o := &internalversion.ListOptions{}
	if p.values != nil {
		if err := internalscheme.ParameterCodec.DecodeParameters(p.values, metav1.SchemeGroupVersion, o); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	internalversion.SetListOptionsDefaults(o, streamed)
	if errs := listvalidation.ValidateListOptions(o, streamed); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	o.Watch, o.Limit = watch, max(o.Limit, 0)
	return o, nil
}
