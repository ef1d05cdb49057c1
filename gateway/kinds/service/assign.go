package service

import (
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
	// Addresses are the ranges of cluster IPs, at most one for each family, of which the
	// first is that of who asks for none.
	Addresses []netip.Prefix
	// Ports are the node ports.
	Ports Ports
}

var (
	services  = schema.GroupResource{Resource: "services"}
	addresses = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}
)

// Assigner is the admission plugin that gives services their addresses and ports. It is safe for concurrent use.
type Assigner struct {
	config  Config
	objects Objects
	pools   []*pool // in the order of the configuration
}

var _ admission.Editor = &Assigner{}

// New makes an assigner that finds and writes objects.
func New(c Config, objects Objects) *Assigner {
	a := &Assigner{config: c, objects: objects}
	for _, p := range c.Addresses {
		family := v4
		if p.Addr().Is6() {
			family = v6
		}
		a.pools = append(a.pools, &pool{own: p, family: family})
	}
	return a
}

// Name implements [admission.Plugin].
func (*Assigner) Name() string { return order.ServiceAllocation }

// Edits implements [admission.Editor].
func (a *Assigner) Edits(_ admission.Operation, gr schema.GroupResource, subresource string) bool {
	return gr == services && subresource == ""
}
