package extend

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// dropBalancer drops what is said of the load balancer of a service that has none now,
// though it may take a while until there is none.
func dropBalancer(subresource string, obj, _ map[string]any) {
	if subresource == "" && object.TextAt(obj, "spec", "type") != string(corev1.ServiceTypeLoadBalancer) {
		object.Ensure(obj, "status")["loadBalancer"] = map[string]any{}
	}
}

// validateTopology refuses two annotations for one thing that say different things.
func validateTopology(obj map[string]any) field.ErrorList {
	annotations, _ := object.Child(obj, "metadata")["annotations"].(map[string]any)
	mode, said := annotations[corev1.AnnotationTopologyMode]
	hints, also := annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	if !said || !also || mode == hints {
		return nil
	}
	at := field.NewPath("metadata", "annotations")
	return field.ErrorList{field.Invalid(at.Key(corev1.AnnotationTopologyMode), mode, "must match annotations["+corev1.DeprecatedAnnotationTopologyAwareHints+"] when both are specified")}
}

// validateService refuses changes of addresses and families, and ranges of sources of a load balancer that are none, in
// the field or, where that is empty, in the annotation that was there before it.
// Those that the object had may stay, and spaces around them are part of the API.
func validateService(subresource string, obj, old map[string]any) (errs field.ErrorList) {
	if subresource != "" {
		return nil
	}
	errs = append(validateFamilies(obj, old), validateTopology(obj)...)
	path, ranges := field.NewPath("spec", "LoadBalancerSourceRanges"), sourceRanges(obj)
	text, annotated := rangesAnnotation(obj)
	if len(ranges) == 0 && annotated {
		path = field.NewPath("metadata", "annotations").Key(corev1.AnnotationLoadBalancerSourceRangesKey)
	}
	if kind, _ := object.Child(obj, "spec")["type"].(string); kind != string(corev1.ServiceTypeLoadBalancer) && (len(ranges) > 0 || annotated) {
		errs = append(errs, field.Forbidden(path, "may only be used when `type` is 'LoadBalancer'"))
	}
	if len(ranges) > 0 {
		before := sourceRanges(old)
		for i, s := range ranges {
			errs = append(errs, validation.IsValidCIDRForLegacyField(path.Index(i), s, true, before)...)
		}
		return errs
	}
	if was, had := rangesAnnotation(old); had && was == text || strings.TrimSpace(text) == "" {
		return errs
	}
	for s := range strings.SplitSeq(text, ",") {
		errs = append(errs, validation.IsValidCIDRForLegacyField(path, strings.TrimSpace(s), true, nil)...)
	}
	return errs
}

// sourceRanges are those of the field, without the spaces around them.
func sourceRanges(obj map[string]any) []string {
	list, _ := object.Child(obj, "spec")["loadBalancerSourceRanges"].([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, _ := item.(string)
		out = append(out, strings.TrimSpace(s))
	}
	return out
}

func rangesAnnotation(obj map[string]any) (text string, ok bool) {
	text, ok = object.Child(obj, "metadata", "annotations")[corev1.AnnotationLoadBalancerSourceRangesKey].(string)
	return text, ok
}
