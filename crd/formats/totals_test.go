package formats

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"
)

// Containers that start do not each go through all resources of the sidecars: what is
// allocated for 1,000 of them beside 2,000 resources would be hundreds of megabytes.
func TestTotalsOfManyContainers(t *testing.T) {
	many := map[string]any{}
	for i := range 2000 {
		many[fmt.Sprintf("example.com/r%d", i)] = "1"
	}
	list := func(of map[string]any) map[string]any { return map[string]any{"requests": of, "limits": of} }
	starting := []any{map[string]any{"name": "s", "restartPolicy": "Always", "resources": list(many)}}
	for i := range 1000 {
		starting = append(starting, map[string]any{"name": fmt.Sprint("i", i), "resources": list(map[string]any{"cpu": "1"})})
	}
	spec := map[string]any{"resources": list(map[string]any{"cpu": "500m"}), "initContainers": starting}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	errs := podTotals(spec, field.NewPath("spec"))
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("%d bytes are allocated", got)
	}
	if want := `spec.resources.requests[cpu]: Invalid value: "500m": must be greater than or equal to aggregate container requests of 1`; len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("%v, want %s", errs, want)
	}
}

// What containers need together is what component-helpers finds.
func TestTotalsOfContainers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	always, never := corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever
	some := func() (all []corev1.Container) {
		for range random.IntN(6) {
			c := corev1.Container{RestartPolicy: []*corev1.ContainerRestartPolicy{nil, &always, &never}[random.IntN(3)]}
			for _, into := range []*corev1.ResourceList{&c.Resources.Requests, &c.Resources.Limits} {
				*into = corev1.ResourceList{}
				for range random.IntN(4) {
					name := []corev1.ResourceName{"cpu", "memory", "hugepages-2Mi", "example.com/a"}[random.IntN(4)]
					(*into)[name] = resource.MustParse([]string{"0", "1", "500m", "2Mi", "-1", "9e18", "12345678901234567890"}[random.IntN(7)])
				}
			}
			all = append(all, c)
		}
		return all
	}
	same := func(a, b corev1.ResourceList) bool {
		for name, q := range a {
			if other, ok := b[name]; !ok || q.Cmp(other) != 0 || q.String() != other.String() {
				return false
			}
		}
		return len(a) == len(b)
	}
	for range 5000 {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: some(), InitContainers: some()}}
		copied := pod.DeepCopy()
		requests := ContainerTotals(&pod.Spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests })
		limits := ContainerTotals(&pod.Spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits })
		if !reflect.DeepEqual(pod, copied) {
			t.Fatalf("changed: %v", copied)
		}
		if want := resourcehelper.AggregateContainerRequests(copied, resourcehelper.PodResourcesOptions{}); !same(requests, want) {
			t.Fatalf("requests of %v: %v, want %v", pod.Spec, requests, want)
		}
		if want := resourcehelper.AggregateContainerLimits(copied, resourcehelper.PodResourcesOptions{}); !same(limits, want) {
			t.Fatalf("limits of %v: %v, want %v", pod.Spec, limits, want)
		}
	}
}
