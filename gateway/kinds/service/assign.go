package service

import (
	"context"
	"net/netip"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Objects are the objects that there are. Errors are the API's status errors;
// objects that are returned belong to the caller.
type Objects interface {
	// Get reads an object at its storage version, from the cache.
	Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error)
	// List reads all objects of a kind ("" = in all namespaces), from the cache.
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error)
	// Create creates obj (at the storage version).
	Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Delete deletes like a client's DELETE.
	Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions) error
	// Fresh waits until the cache holds everything that was committed before
	// the call.
	Fresh(ctx context.Context) error
}

// Ports is a range of node ports.
type Ports struct{ First, Last int64 }

// Config is what an [Assigner] needs.
type Config struct {
	// Addresses are the cluster IPs.
	Addresses netip.Prefix
	// Ports are the node ports.
	Ports Ports
}

var (
	services        = schema.GroupResource{Resource: "services"}
	pods            = schema.GroupResource{Resource: "pods"}
	addresses       = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}
	runtimeClasses  = schema.GroupResource{Group: "node.k8s.io", Resource: "runtimeclasses"}
	priorityClasses = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}
)

// Assigner is a [resource.Mutator]. It is safe for concurrent use.
type Assigner struct {
	config Config
	// Objects has to be set before the first write.
	Objects Objects
}

var _ resource.Mutator = &Assigner{}

// New makes an assigner.
func New(c Config) *Assigner { return &Assigner{config: c} }

// Config is what New was given.
func (a *Assigner) Config() Config { return a.config }

// Mutate implements [resource.Mutator].
func (a *Assigner) Mutate(ctx context.Context, w *resource.Write) error {
	if w.Operation() == resource.OperationDelete {
		return nil
	}
	change := a.decides(w.Resource.GroupResource(), w.Subresource)
	if change == nil {
		return nil
	}
	tree, err := w.NewAt(ctx, w.Version.Name)
	if err != nil {
		return err
	}
	return change(ctx, w, tree)
}

// decides is what is decided about an object, nil for nothing.
func (a *Assigner) decides(gr schema.GroupResource, subresource string) func(context.Context, *resource.Write, map[string]any) error {
	switch {
	case gr == claims && subresource == "status":
		return a.claimStatus
	case subresource != "":
		return nil
	case gr == services:
		return a.service
	case gr == pods:
		return a.pod
	case gr == claims, gr == claimTemplates:
		return a.claim
	}
	return nil
}

func child(m map[string]any, name string) map[string]any {
	out, _ := m[name].(map[string]any)
	return out
}

func text(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}
