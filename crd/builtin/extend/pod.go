package extend

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// completePod keeps in step what clients may say of a pod in two ways, and gives
// it the least time to end where it has less than none.
func completePod(obj map[string]any) {
	pairAddresses(object.Child(obj, "status"))
	spec := object.Child(obj, "spec")
	if object.Child(spec, "resources") != nil {
		requestTotals(obj)
	}
	if grace, ok := spec["terminationGracePeriodSeconds"].(int64); ok && grace < 0 {
		spec["terminationGracePeriodSeconds"] = int64(1)
	}
}

// pairAddresses keeps podIP the first of podIPs. Where they differ, podIP counts,
// which is what clients of long ago know.
func pairAddresses(status map[string]any) {
	one, first := object.TextAt(status, "podIP"), ""
	if list, _ := status["podIPs"].([]any); len(list) > 0 {
		item, _ := list[0].(map[string]any)
		first = object.TextAt(item, "ip")
	}
	switch {
	case one == "" && first != "":
		status["podIP"] = first
	case one != first:
		status["podIPs"] = []any{map[string]any{"ip": one}}
	}
}

// preparePod gives a new pod the status that every pod begins with, and fills in
// what it says of itself by its labels and annotations.
func preparePod(_ context.Context, obj map[string]any) {
	class := corev1.PodQOSBestEffort
	if pod := new(corev1.Pod); object.ToTyped(obj, pod) == nil {
		class = qosClass(pod)
	}
	status := map[string]any{"phase": string(corev1.PodPending), "qosClass": string(class)}
	obj["status"] = status
	spec := object.Child(obj, "spec")
	if gates, _ := spec["schedulingGates"].([]any); len(gates) > 0 {
		status["conditions"] = []any{map[string]any{
			"type": string(corev1.PodScheduled), "status": "False", "reason": corev1.PodReasonSchedulingGated,
			"message": "Scheduling is blocked due to non-empty scheduling gates", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}}
	}
	labels, _ := object.Child(obj, "metadata")["labels"].(map[string]any)
	selectByKeys(spec, labels)
	confineByAnnotations(spec, object.Child(obj, "metadata"))
}

const debuggers = "ephemeralContainers"

// narrowPod lets a write through a subresource change nothing of a pod's spec but
// what the subresource is there for.
func narrowPod(subresource string, obj, old map[string]any) {
	if subresource == "status" {
		keepClass(object.Child(obj, "status"), object.Child(old, "status"))
		keepObserved(object.Child(obj, "status"), object.Child(old, "status"))
	}
	wanted, was := object.Child(obj, "spec"), object.Child(old, "spec")
	if was == nil || subresource != "ephemeralcontainers" && subresource != "resize" {
		return
	}
	spec := runtime.DeepCopyJSON(was)
	if subresource == "resize" {
		if !resized(spec, wanted) {
			return
		}
	} else {
		object.Keep(spec, wanted, debuggers)
	}
	obj["spec"] = spec
}

// keepClass keeps the class of a pod that a status does not mention.
func keepClass(status, was map[string]any) {
	if status != nil && object.TextAt(status, "qosClass") == "" && object.TextAt(was, "qosClass") != "" {
		object.Keep(status, was, "qosClass")
	}
}

// keepObserved keeps the generations that a status and its conditions were observed at
// where those of the new one are not said.
func keepObserved(status, was map[string]any) {
	const observed = "observedGeneration"
	keepMissing := func(obj, old map[string]any) {
		if n, _ := obj[observed].(int64); n == 0 && obj != nil && old[observed] != nil {
			obj[observed] = old[observed]
		}
	}
	keepMissing(status, was)
	before := map[string][]map[string]any{}
	list, _ := was["conditions"].([]any)
	for _, item := range list {
		if c, ok := item.(map[string]any); ok {
			before[object.TextAt(c, "type")] = append(before[object.TextAt(c, "type")], c)
		}
	}
	list, _ = status["conditions"].([]any)
	for _, item := range list {
		c, _ := item.(map[string]any)
		if earlier := before[object.TextAt(c, "type")]; len(earlier) > 0 {
			before[object.TextAt(c, "type")] = earlier[1:]
			keepMissing(c, earlier[0])
		}
	}
}

func byName(list any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, m := range object.Objects(list) {
		out[object.TextAt(m, "name")] = m
	}
	return out
}

// podGrace is how long a pod may take to end: as long as is asked for, or as it
// says itself, while it is on a node and has not ended.
func podGrace(obj map[string]any, asked *int64) int64 {
	phase := object.TextAt(obj, "status", "phase")
	switch own, _ := object.Child(obj, "spec")["terminationGracePeriodSeconds"].(int64); {
	case object.TextAt(obj, "spec", "nodeName") == "", phase == string(corev1.PodSucceeded), phase == string(corev1.PodFailed):
		return 0
	case asked != nil:
		return *asked
	default:
		return max(own, 0)
	}
}

// validatePod checks what no rule of one place can: annotations of containers,
// what one that waits says of nodes, what a status brings
// back, and ephemeral containers, which a new pod has none of, and which are not changed.
func validatePod(subresource string, obj, old map[string]any) (errs field.ErrorList) {
	if subresource == "" {
		errs = slices.Concat(validatePodAnnotations(obj, old), validateStaticClaims(obj), validateWaiting(obj, old))
	}
	if subresource == "status" {
		errs = append(validatePodAnnotations(obj, old), validatePodStatus(obj, old)...)
	}
	if old != nil && (subresource == "" || subresource == "status") {
		errs = append(errs, validateKeptAnnotations(obj, old)...)
	}
	if subresource == "resize" {
		errs = validateResize(obj, old)
	}
	return append(errs, validateDebuggers(subresource, obj, old)...)
}

func validateDebuggers(subresource string, obj, old map[string]any) field.ErrorList {
	now, path := byName(object.Child(obj, "spec")[debuggers]), field.NewPath("spec", debuggers)
	if old == nil && len(now) > 0 {
		return field.ErrorList{field.Forbidden(path, "cannot be set on create")}
	}
	if subresource != "ephemeralcontainers" {
		return nil
	}
	if isStatic(old) {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers")}
	}
	var errs field.ErrorList
	was := byName(object.Child(old, "spec")[debuggers])
	for _, name := range slices.Sorted(maps.Keys(was)) {
		switch {
		case now[name] == nil:
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name)))
		case !reflect.DeepEqual(now[name], was[name]):
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n", name)))
		}
	}
	return errs
}

// qosClass tells how well a pod says what it needs: fully, in part, or not.
func qosClass(p *corev1.Pod) corev1.PodQOSClass {
	guaranteed, none := true, true
	sum := map[corev1.ResourceName]resource.Quantity{}
	limits := map[corev1.ResourceName]resource.Quantity{}
	containers := slices.Concat(p.Spec.Containers, p.Spec.InitContainers)
	if whole := p.Spec.Resources; whole != nil && len(whole.Requests)+len(whole.Limits) > 0 {
		containers = []corev1.Container{{Resources: *whole}} // which counts instead of theirs
	}
	for _, c := range containers {
		bounded := 0
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			for from, into := range map[*corev1.ResourceList]map[corev1.ResourceName]resource.Quantity{&c.Resources.Requests: sum, &c.Resources.Limits: limits} {
				if q, ok := (*from)[name]; ok && !q.IsZero() {
					none = false
					total := into[name]
					total.Add(q)
					into[name] = total
				}
			}
			if q, ok := c.Resources.Limits[name]; ok && !q.IsZero() {
				bounded++
			}
		}
		guaranteed = guaranteed && bounded == 2
	}
	switch {
	case none:
		return corev1.PodQOSBestEffort
	case guaranteed && same(sum, limits):
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func same(a, b map[corev1.ResourceName]resource.Quantity) bool {
	for name, q := range a {
		if other, ok := b[name]; !ok || q.Cmp(other) != 0 {
			return false
		}
	}
	return len(a) == len(b)
}
