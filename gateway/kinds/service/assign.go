package service

import (
	"context"
	"net/netip"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

// Objects are the objects that there are.
type Objects interface {
	client.Getter
	client.Lister
	client.Creator
	client.Deleter
	client.Freshener
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

// Assigner is a [admission.Mutator]. It is safe for concurrent use.
type Assigner struct {
	config  Config
	objects Objects
}

var _ admission.Mutator = &Assigner{}

// New makes an assigner that finds and writes objects.
func New(c Config, objects Objects) *Assigner { return &Assigner{config: c, objects: objects} }

// Name implements [admission.Plugin].
func (*Assigner) Name() string { return order.ServiceAllocation }

// Mutate implements [admission.Mutator].
func (a *Assigner) Mutate(ctx context.Context, w admission.Attributes) error {
	if w.GetOperation() == admission.Delete {
		return nil
	}
	change := a.decides(w.GetResource().GroupResource(), w.GetSubresource())
	if change == nil {
		return nil
	}
	tree, err := w.GetObjectAt(ctx, w.GetResource().Version)
	if err != nil {
		return err
	}
	return change(ctx, w, tree)
}

// decides is what is decided about an object, nil for nothing.
func (a *Assigner) decides(gr schema.GroupResource, subresource string) func(context.Context, admission.Attributes, map[string]any) error {
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
