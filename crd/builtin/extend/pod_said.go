package extend

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// selectByKeys adds to the selectors of a pod what its keys of labels stand for:
// the pods that have its own values of these labels, or others.
func selectByKeys(spec, labels map[string]any) {
	for _, c := range object.Objects(spec["topologySpreadConstraints"]) {
		addKeys(c, labels)
	}
	affinity := object.Child(spec, "affinity")
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		terms := object.Child(affinity, kind)
		for _, t := range object.Objects(terms["requiredDuringSchedulingIgnoredDuringExecution"]) {
			addKeys(t, labels)
		}
		for _, t := range object.Objects(terms["preferredDuringSchedulingIgnoredDuringExecution"]) {
			addKeys(object.Child(t, "podAffinityTerm"), labels)
		}
	}
}

func addKeys(term, labels map[string]any) {
	selector, ok := term["labelSelector"].(map[string]any)
	if !ok { // which selects nothing
		return
	}
	for _, by := range [][2]string{{"matchLabelKeys", "In"}, {"mismatchLabelKeys", "NotIn"}} {
		keys, _ := term[by[0]].([]any)
		for _, key := range keys {
			name, _ := key.(string)
			if value, ok := labels[name]; ok {
				list, _ := selector["matchExpressions"].([]any)
				selector["matchExpressions"] = append(list, map[string]any{"key": name, "operator": by[1], "values": []any{value}})
			}
		}
	}
}

// AppArmor by annotations, as it was before there were fields for it.
const (
	appArmor          = "container.apparmor.security.beta.kubernetes.io/"
	appArmorRuntime   = "runtime/default"
	appArmorNone      = "unconfined"
	appArmorLocalhost = "localhost/"
)

// containersOf visits the containers of a pod, with their places.
func containersOf(spec map[string]any, fn func(c map[string]any, at *field.Path)) {
	for _, list := range []string{"initContainers", "containers", debuggers} {
		for i, c := range object.Objects(spec[list]) {
			fn(c, field.NewPath("spec", list).Index(i))
		}
	}
}

// confineByAnnotations sets the fields of containers that annotations stand for.
func confineByAnnotations(spec, meta map[string]any) {
	annotations, _ := meta["annotations"].(map[string]any)
	if len(annotations) == 0 || object.TextAt(spec, "os", "name") == string(corev1.Windows) {
		return
	}
	ofPod := object.Child(spec, "securityContext", "appArmorProfile")
	containersOf(spec, func(c map[string]any, _ *field.Path) {
		said, ok := annotations[appArmor+object.TextAt(c, "name")].(string)
		profile := profileOf(said)
		if !ok || profile == nil || object.Child(c, "securityContext", "appArmorProfile") != nil || ofPod != nil && fmt.Sprint(ofPod) == fmt.Sprint(profile) {
			return
		}
		object.Ensure(c, "securityContext")["appArmorProfile"] = profile
	})
}

// profileOf is the profile that an annotation means, nil for none.
func profileOf(annotation string) map[string]any {
	name, local := strings.CutPrefix(annotation, appArmorLocalhost)
	switch {
	case annotation == appArmorRuntime:
		return map[string]any{"type": string(corev1.AppArmorProfileTypeRuntimeDefault)}
	case annotation == appArmorNone:
		return map[string]any{"type": string(corev1.AppArmorProfileTypeUnconfined)}
	case local && name != "":
		return map[string]any{"type": string(corev1.AppArmorProfileTypeLocalhost), "localhostProfile": name}
	}
	return nil
}

// validatePodAnnotations checks those that say what fields of the pod may say, too.
func validatePodAnnotations(obj, old map[string]any) (errs field.ErrorList) {
	annotations, _ := object.Child(obj, "metadata")["annotations"].(map[string]any)
	if len(annotations) == 0 {
		return nil
	}
	spec, at := object.Child(obj, "spec"), field.NewPath("metadata", "annotations")
	names := map[string]bool{}
	containersOf(spec, func(c map[string]any, place *field.Path) {
		names[object.TextAt(c, "name")] = true
		if old == nil && object.TextAt(spec, "os", "name") != string(corev1.Windows) {
			errs = append(errs, contradicted(c, spec, annotations, place.Child("securityContext", "appArmorProfile"))...)
		}
	})
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		said, _ := annotations[key].(string)
		name, ofContainer := strings.CutPrefix(key, appArmor)
		if ofContainer && !names[name] {
			errs = append(errs, field.Invalid(at.Key(key), name, "container not found"))
		}
		if ofContainer && said != "" && profileOf(said) == nil && said != appArmorLocalhost {
			errs = append(errs, field.Invalid(at.Key(key), said, fmt.Sprintf("invalid AppArmor profile name: %q", said)))
		}
		if key == corev1.PodDeletionCost && !isCost(said) && costBefore(old) {
			errs = append(errs, field.Invalid(at.Key(key), said, "must be a 32bit integer"))
		}
		if key == corev1.MirrorPodAnnotationKey && object.TextAt(spec, "nodeName") == "" {
			errs = append(errs, field.Invalid(at.Key(key), said, "must set spec.nodeName if mirror pod annotation is set"))
		}
	}
	return errs
}

// isCost tells whether a text says what it costs to delete a pod.
func isCost(said string) bool {
	n, err := strconv.ParseInt(said, 10, 32)
	return err == nil && (said[0] == '-' || strconv.FormatInt(n, 10) == said)
}

// costBefore tells whether a pod, if there was one, had such a cost or none. One that had
// another text may have any, or nobody could write its status.
func costBefore(old map[string]any) bool {
	annotations, _ := object.Child(old, "metadata")["annotations"].(map[string]any)
	said, ok := annotations[corev1.PodDeletionCost].(string)
	return !ok || isCost(said)
}

// validateKeptAnnotations refuses another annotation than there was, or none, where it
// says what a pod is, or what confines its containers.
func validateKeptAnnotations(obj, old map[string]any) (errs field.ErrorList) {
	now, _ := object.Child(obj, "metadata")["annotations"].(map[string]any)
	was, _ := object.Child(old, "metadata")["annotations"].(map[string]any)
	refuse := func(key, verb string) {
		at := field.NewPath("metadata", "annotations").Key(key)
		switch {
		case strings.HasPrefix(key, appArmor):
			errs = append(errs, field.Forbidden(at, "may not "+verb+" AppArmor annotations"))
		case key == corev1.MirrorPodAnnotationKey:
			errs = append(errs, field.Forbidden(at, "may not "+verb+" mirror pod annotation"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if value, has := now[key]; !has || value != was[key] {
			refuse(key, "remove or update")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if _, had := was[key]; !had {
			refuse(key, "add")
		}
	}
	return errs
}

// isStatic tells whether a pod stands for one that a node has of itself.
func isStatic(pod map[string]any) bool {
	annotations, _ := object.Child(pod, "metadata")["annotations"].(map[string]any)
	_, mirrors := annotations[corev1.MirrorPodAnnotationKey]
	return mirrors
}

// validateStaticClaims refuses claims of pods whose nodes know of none.
func validateStaticClaims(pod map[string]any) (errs field.ErrorList) {
	if isStatic(pod) {
		for range object.Objects(object.Child(pod, "spec")["resourceClaims"]) {
			errs = append(errs, field.Forbidden(field.NewPath(""), "static pods do not support resource claims"))
		}
	}
	return errs
}

// contradicted refuses a profile of a container that is another than its
// annotation's.
func contradicted(c, spec, annotations map[string]any, at *field.Path) field.ErrorList {
	profile := object.Child(c, "securityContext", "appArmorProfile")
	if profile == nil {
		profile = object.Child(spec, "securityContext", "appArmorProfile")
	}
	said, ok := annotations[appArmor+object.TextAt(c, "name")].(string)
	if profile == nil || !ok {
		return nil
	}
	meant := profileOf(said)
	switch {
	case object.TextAt(meant, "type") != object.TextAt(profile, "type"):
		return field.ErrorList{field.Forbidden(at.Child("type"), "apparmor type in annotation and field must match")}
	case object.TextAt(meant, "localhostProfile") != object.TextAt(profile, "localhostProfile"):
		return field.ErrorList{field.Forbidden(at.Child("localhostProfile"), "apparmor profile in annotation and field must match")}
	}
	return nil
}
