package componentstatus

import (
	"cmp"
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is the kind that is reported.
var Resource = schema.GroupResource{Resource: "componentstatuses"}

// Where a scheduler and a controller manager tell of their health, by default.
const (
	Scheduler         = "https://127.0.0.1:10259/healthz"
	ControllerManager = "https://127.0.0.1:10257/healthz"
)

// health is what a check found: whether a component is well, what it said, and
// what kept it from being asked.
type health struct {
	status         corev1.ConditionStatus
	message, error string
}

// Components are the parts, by name. It is safe for concurrent use.
type Components map[string]func(ctx context.Context) health

// New are the parts of a control plane whose store is asked by etcd, and whose
// scheduler and controller manager are asked at the URLs of their health.
func New(etcd func(ctx context.Context) error, scheduler, controllerManager string) Components {
	return Components{"controller-manager": probe(controllerManager), "etcd-0": store(etcd), "scheduler": probe(scheduler)}
}

func store(check func(ctx context.Context) error) func(ctx context.Context) health {
	return func(ctx context.Context) health {
		if err := check(ctx); err != nil {
			return health{corev1.ConditionFalse, "", err.Error()}
		}
		return health{corev1.ConditionTrue, "ok", ""}
	}
}

// Report tells of the component of a name, if there is one, or of all of them for
// "", which are asked side by side.
func (c Components) Report(ctx context.Context, name string) []map[string]any {
	var asked sync.WaitGroup
	var mu sync.Mutex
	var out []map[string]any
	for n, check := range c {
		if name != "" && name != n {
			continue
		}
		asked.Go(func() {
			status := object(n, check(ctx))
			mu.Lock()
			defer mu.Unlock()
			out = append(out, status)
		})
	}
	asked.Wait()
	slices.SortFunc(out, func(a, b map[string]any) int { return cmp.Compare(nameOf(a), nameOf(b)) })
	return out
}

func object(name string, h health) map[string]any {
	condition := map[string]any{"type": string(corev1.ComponentHealthy), "status": string(h.status)}
	if h.message != "" {
		condition["message"] = h.message
	}
	if h.error != "" {
		condition["error"] = h.error
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "ComponentStatus", "metadata": map[string]any{"name": name}, "conditions": []any{condition},
	}
}

func nameOf(o map[string]any) string {
	return o["metadata"].(map[string]any)["name"].(string) // as object makes it
}
