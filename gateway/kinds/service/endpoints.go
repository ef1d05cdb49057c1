package service

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

var (
	endpoints = schema.GroupResource{Resource: "endpoints"}
	parts     = schema.GroupResource{Group: discoveryv1.GroupName, Resource: "endpointslices"}
)

// Endpoints keeps those of the service of the API: the gateways that have a lease.
type Endpoints struct{ objects Keeper }

// NewEndpoints makes the controller.
func NewEndpoints(objects Keeper) *Endpoints { return &Endpoints{objects} }

// Name implements [controller.Controller].
func (*Endpoints) Name() string { return "api-endpoints" }

// Watches implements [controller.Controller].
func (*Endpoints) Watches() []schema.GroupResource {
	return []schema.GroupResource{endpoints, parts, leases}
}

var ofAPI = controller.Key{GroupResource: endpoints, Namespace: metav1.NamespaceDefault, Name: kubernetes}

// Seeds implements [controller.Seeded].
func (*Endpoints) Seeds() []controller.Key { return []controller.Key{ofAPI} }

// Resync implements [controller.Resyncing]: leases run out without an event.
func (*Endpoints) Resync() time.Duration { return renewEvery }

// Reconcile implements [controller.Controller].
func (e *Endpoints) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key != ofAPI {
		if key.Namespace == ofAPI.Namespace && key.Name == ofAPI.Name || key.Namespace == metav1.NamespaceSystem && strings.HasPrefix(key.Name, "apiserver-") {
			q.Add(ofAPI)
		}
		return nil
	}
	if err := e.keep(ctx, endpoints, legacy); err != nil {
		return err
	}
	return e.keep(ctx, parts, slice)
}

// gateways are where gateways are that have a lease, sorted: those of one family at one
// port. Leases that ran out long ago are deleted.
func (e *Endpoints) gateways(ctx context.Context) ([]netip.AddrPort, error) {
	all, err := e.objects.List(ctx, leases, metav1.NamespaceSystem)
	if err != nil {
		return nil, err
	}
	var out []netip.AddrPort
	for _, obj := range all {
		if obj.GetLabels()[kinds.IdentityLabel] != kinds.IdentityOfServer {
			continue
		}
		var l coordinationv1.Lease
		if err := gvr.Decode(obj, &l); err != nil {
			return nil, err
		}
		age := leaseTime + 1
		if l.Spec.RenewTime != nil {
			age = time.Since(l.Spec.RenewTime.Time)
		}
		if age > leaseTime {
			// Its gateway may have stood still, and have renewed it since.
			err := e.objects.Delete(ctx, leases, l.Namespace, l.Name, *asSeen(obj))
			if gvr.IgnoreNotFound(err) != nil {
				return nil, err
			}
		}
		if at, err := netip.ParseAddrPort(l.Annotations[reachedAt]); err == nil && age < gone {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, netip.AddrPort.Compare)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(a netip.AddrPort) bool {
		return a.Port() != out[0].Port() || a.Addr().Is4() != out[0].Addr().Is4()
	}), nil
}

// legacy are the endpoints as Endpoints, which are deprecated and read all the same, and
// slice as an EndpointSlice.
func legacy(at []netip.AddrPort) map[string]any {
	var addresses []any
	for _, a := range at {
		addresses = append(addresses, map[string]any{"ip": a.Addr().String()})
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Endpoints",
		"metadata": map[string]any{"labels": map[string]any{discoveryv1.LabelSkipMirror: "true"}},
		"subsets": []any{map[string]any{
			"addresses": addresses, "ports": []any{map[string]any{"name": "https", "port": int64(at[0].Port()), "protocol": "TCP"}},
		}},
	}
}

func slice(at []netip.AddrPort) map[string]any {
	var all []any
	for _, a := range at {
		all = append(all, map[string]any{"addresses": []any{a.Addr().String()}, "conditions": map[string]any{"ready": true}})
	}
	family := discoveryv1.AddressTypeIPv4
	if at[0].Addr().Is6() {
		family = discoveryv1.AddressTypeIPv6
	}
	return map[string]any{
		"apiVersion": discoveryv1.SchemeGroupVersion.String(), "kind": "EndpointSlice", "addressType": string(family), "endpoints": all,
		"metadata": map[string]any{"labels": map[string]any{discoveryv1.LabelServiceName: kubernetes}},
		"ports":    []any{map[string]any{"name": "https", "port": int64(at[0].Port()), "protocol": "TCP"}},
	}
}

// keep makes an object what it has to be. It is read before the leases are: whoever wrote it
// since may have heard of more, and then it is not written.
func (e *Endpoints) keep(ctx context.Context, gr schema.GroupResource, want func(at []netip.AddrPort) map[string]any) error {
	have, err := e.objects.Get(ctx, gr, ofAPI.Namespace, ofAPI.Name)
	absent := apierrors.IsNotFound(err)
	if err != nil && !absent {
		return err
	}
	at, err := e.gateways(ctx)
	if err != nil || len(at) == 0 {
		return err
	}
	wanted := &unstructured.Unstructured{Object: want(at)}
	wanted.SetName(ofAPI.Name)
	wanted.SetNamespace(ofAPI.Namespace)
	if absent {
		if _, err = e.objects.Create(ctx, gr, wanted); apierrors.IsAlreadyExists(err) {
			return apierrors.NewConflict(gr, ofAPI.Name, err)
		}
		return err
	}
	changed := false
	for field, value := range wanted.Object {
		if field != "metadata" && !equality.Semantic.DeepEqual(have.Object[field], value) {
			have.Object[field], changed = value, true
		}
	}
	labels := have.GetLabels()
	for k, v := range wanted.GetLabels() {
		if labels[k] != v {
			have.SetLabels(with(have.GetLabels(), k, v))
			changed = true
		}
	}
	if !changed {
		return nil
	}
	if _, err := e.objects.Update(ctx, gr, "", have); err != nil {
		return fmt.Errorf("%s of the API: %w", gr, err)
	}
	return nil
}
