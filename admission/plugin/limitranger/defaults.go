package limitranger

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// annotation of a pod says what was set by [complete].
const annotation = "kubernetes.io/limit-ranger"

// most is how much of one pod LimitRanges may be asked about: its containers times
// the resources that the LimitRanges name. Both are only bounded by what a
// request may weigh, and their product takes hours, and all memory.
const most = 100_000

// work is how much a LimitRange is asked about a pod; it is compared with [most].
func work(pod map[string]any, r *corev1.LimitRange) int {
	containers, names := 1, 0
	spec, _ := pod["spec"].(map[string]any)
	for _, field := range lists {
		all, _ := spec[field.name].([]any)
		containers += len(all)
	}
	for _, i := range r.Spec.Limits {
		names += len(i.Min) + len(i.Max) + len(i.MaxLimitRequestRatio) + len(i.Default) + len(i.DefaultRequest)
	}
	return containers * names
}

// lists are the containers that are completed.
var lists = []struct{ name, what string }{{"containers", "container"}, {"initContainers", "init container"}}

// complete gives the containers of a pod, in place, the requests and limits that
// a LimitRange has for those without, and says so in an annotation. It is false
// if there was nothing to do.
func complete(pod map[string]any, r *corev1.LimitRange) bool {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range r.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			merge(requests, item.DefaultRequest)
			merge(limits, item.Default)
		}
	}
	spec, _ := pod["spec"].(map[string]any)
	var said []string
	for _, list := range lists {
		all, _ := spec[list.name].([]any)
		for _, c := range all {
			c, ok := c.(map[string]any)
			if !ok {
				continue
			}
			for _, kind := range []struct {
				field, what string
				values      corev1.ResourceList
			}{{"requests", "request", requests}, {"limits", "limit", limits}} {
				if set := fill(c, kind.field, kind.values); len(set) > 0 {
					said = append(said, fmt.Sprintf("%s %s for %s %v", strings.Join(set, ", "), kind.what, list.what, c["name"]))
				}
			}
		}
	}
	if len(said) == 0 {
		return false
	}
	annotations := within(within(pod, "metadata"), "annotations")
	annotations[annotation] = "LimitRanger plugin set: " + strings.Join(said, "; ")
	return true
}

func merge(into, from corev1.ResourceList) {
	for name, q := range from {
		into[name] = q
	}
}

// fill sets what a container's resources lack of values, and returns the names
// of that in order.
func fill(container map[string]any, field string, values corev1.ResourceList) (set []string) {
	if len(values) == 0 {
		return nil
	}
	have := within(within(container, "resources"), field)
	for name, q := range values {
		if _, there := have[string(name)]; !there {
			have[string(name)] = q.String()
			set = append(set, string(name))
		}
	}
	slices.Sort(set)
	return set
}

// within is the object in a field, which is made if there is none.
func within(o map[string]any, field string) map[string]any {
	in, ok := o[field].(map[string]any)
	if !ok {
		in = map[string]any{}
		o[field] = in
	}
	return in
}
