// Package priorityclass owns the PriorityClasses that every cluster has, and makes them
// at the start.
//
// It must not know what a priority does to pods.
package priorityclass

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// again is the time after which what failed is tried once more.
const again = time.Second

// Objects are what is made.
type Objects interface {
	client.Getter
	client.Creator
}

// system are the classes, in the words that Kubernetes has for them.
var system = []struct {
	name        string
	value       int64
	description string
}{
	{"system-node-critical", 2000001000, "Used for system critical pods that must not be moved from their current node."},
	{"system-cluster-critical", 2000000000, "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."},
}

// Kind is that of PriorityClasses: the system's are made at the start.
func Kind(c kinds.Config) kinds.Kind {
	if !c.Has(gvr.PriorityClasses) {
		return kinds.Kind{}
	}
	log := c.Log.With().Str("component", "priorityclass").Logger()
	return kinds.Kind{Serve: func(e *engine.Engine) (kinds.Served, error) {
		return kinds.Served{Starts: []kinds.Start{step(local.Part(e, "priorityclass"), log)}}, nil
	}}
}

// step is the step of the start by which they are there.
func step(objects Objects, log zerolog.Logger) kinds.Start {
	return kinds.Start{Name: "scheduling/bootstrap-system-priority-classes", Run: func(ctx context.Context, _ string, _ func(func())) error {
		controller.Until(ctx, again, func(ctx context.Context) error { return Ensure(ctx, objects) }, func(err error) {
			log.Error().Err(err).Msg("the priority classes of the system are not all there yet")
		})
		return nil
	}}
}

// Ensure creates the classes of the system that are missing. Those that are there are
// left as they are.
func Ensure(ctx context.Context, objects Objects) error {
	for _, s := range system {
		_, err := objects.Get(ctx, gvr.PriorityClasses, "", s.name)
		if err == nil {
			continue
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		class := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": map[string]any{"name": s.name},
			"value": s.value, "description": s.description,
		}}
		if _, err = objects.Create(ctx, gvr.PriorityClasses, class); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create priority class %q: %w", s.name, err)
		}
	}
	return nil
}
