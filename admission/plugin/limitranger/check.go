package limitranger

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/wasmgate/wasmgate/excerpt"
)

// checkPod says what of a pod a LimitRange does not allow.
func checkPod(pod *corev1.Pod, r *corev1.LimitRange) error {
	var errs []error
	for i := range r.Spec.Limits {
		item := &r.Spec.Limits[i]
		switch item.Type {
		case corev1.LimitTypeContainer:
			for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
				errs = append(errs, check(item, c.Resources.Requests, c.Resources.Limits)...)
			}
		case corev1.LimitTypePod:
			o := resourcehelper.PodResourcesOptions{ExcludeOverhead: true}
			errs = append(errs, check(item, resourcehelper.PodRequests(pod, o), resourcehelper.PodLimits(pod, o))...)
		}
	}
	return excerpt.Errors(errs)
}

// checkClaim says what of a claim a LimitRange does not allow: claims have
// requests only.
func checkClaim(claim *corev1.PersistentVolumeClaim, r *corev1.LimitRange) error {
	var errs []error
	for i := range r.Spec.Limits {
		item := &r.Spec.Limits[i]
		if item.Type != corev1.LimitTypePersistentVolumeClaim {
			continue
		}
		for _, name := range inOrder(item.Min) {
			errs = append(errs, bound{item.Type, name, item.Min[name]}.min(claim.Spec.Resources.Requests, nil))
		}
		for _, name := range inOrder(item.Max) {
			errs = append(errs, bound{item.Type, name, item.Max[name]}.maxRequest(claim.Spec.Resources.Requests))
		}
	}
	return excerpt.Errors(errs)
}

// check says what is wrong with the resources of a container or a pod.
func check(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) (errs []error) {
	for _, name := range inOrder(item.Min) {
		errs = append(errs, bound{item.Type, name, item.Min[name]}.min(requests, limits))
	}
	for _, name := range inOrder(item.Max) {
		errs = append(errs, bound{item.Type, name, item.Max[name]}.max(requests, limits))
	}
	for _, name := range inOrder(item.MaxLimitRequestRatio) {
		errs = append(errs, bound{item.Type, name, item.MaxLimitRequestRatio[name]}.ratio(requests, limits))
	}
	return errs
}

// inOrder are the names of a list in an order, so that of several mistakes the same is
// told first each time.
func inOrder(l corev1.ResourceList) []corev1.ResourceName { return slices.Sorted(maps.Keys(l)) }

// bound is one number of a LimitRange.
type bound struct {
	of       corev1.LimitType
	resource corev1.ResourceName
	q        resource.Quantity
}

// err is about a least or most usage.
func (b bound) err(extreme, but string) error {
	return fmt.Errorf("%simum %s usage per %s is %s%s", extreme, b.resource, b.of, b.q.String(), but)
}

// than compares a quantity with the bound.
func (b bound) than(q resource.Quantity) int { return q.Cmp(b.q) }

func (b bound) min(requests, limits corev1.ResourceList) error {
	request, asked := requests[b.resource]
	limit, limited := limits[b.resource]
	switch {
	case !asked:
		return b.err("min", ".  No request is specified")
	case b.than(request) < 0:
		return b.err("min", ", but request is "+request.String())
	case limited && b.than(limit) < 0:
		return b.err("min", ", but limit is "+limit.String())
	}
	return nil
}

func (b bound) max(requests, limits corev1.ResourceList) error {
	request, asked := requests[b.resource]
	limit, limited := limits[b.resource]
	switch {
	case !limited:
		return b.err("max", ".  No limit is specified")
	case b.than(limit) > 0:
		return b.err("max", ", but limit is "+limit.String())
	case asked && b.than(request) > 0:
		return b.err("max", ", but request is "+request.String())
	}
	return nil
}

func (b bound) maxRequest(requests corev1.ResourceList) error {
	request, asked := requests[b.resource]
	switch {
	case !asked:
		return b.err("max", ".  No request is specified")
	case b.than(request) > 0:
		return b.err("max", ", but request is "+request.String())
	}
	return nil
}

func (b bound) ratio(requests, limits corev1.ResourceList) error {
	says := fmt.Sprintf("%s max limit to request ratio per %s is %s, but", b.resource, b.of, b.q.String())
	request, limit := requests[b.resource], limits[b.resource]
	switch {
	case request.IsZero():
		return fmt.Errorf("%s no request is specified or request is 0", says)
	case limit.IsZero():
		return fmt.Errorf("%s no limit is specified or limit is 0", says)
	}
	if ratio := quotient(limit, request); ratio > b.q.AsApproximateFloat64() {
		return fmt.Errorf("%s provided ratio is %f", says, ratio)
	}
	return nil
}

// quotient divides whole numbers, as thousandths are not exact as floats.
func quotient(a, b resource.Quantity) float64 {
	if a.CmpInt64(resource.MaxMilliValue) > 0 || b.CmpInt64(resource.MaxMilliValue) > 0 {
		return float64(a.Value()) / float64(b.Value())
	}
	return float64(a.MilliValue()) / float64(b.MilliValue())
}
