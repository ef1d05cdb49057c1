package service

import (
	"context"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/controller"
)

// Release gives the addresses of a service back when that goes, or has others. What it
// does not see, as nobody was elected, is the [Ledger]'s.
type Release struct {
	objects Objects
	// held are the addresses of services as they were seen last. Reconciling has them for itself.
	held map[types.NamespacedName]heldAddresses
}

// heldAddresses are the uids of the IPAddresses of a service, which tell them from those
// that another write has made since.
type heldAddresses map[string]types.UID

// NewRelease makes the controller.
func NewRelease(objects Objects) *Release {
	return &Release{objects, map[types.NamespacedName]heldAddresses{}}
}

// Name implements [controller.Controller].
func (r *Release) Name() string { return "cluster-ip-release" }

// Watches implements [controller.Controller].
func (r *Release) Watches() []schema.GroupResource { return []schema.GroupResource{services} }

// Reconcile implements [controller.Controller].
func (r *Release) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	service := types.NamespacedName{Namespace: key.Namespace, Name: key.Name}
	now, err := r.now(ctx, service)
	if err != nil {
		return err
	}
	for ip, uid := range r.held[service] {
		if _, ok := now[ip]; ok {
			continue
		}
		err = r.objects.Delete(ctx, addresses, "", ip, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		if !apierrors.IsConflict(err) && ignoreNotFound(err) != nil {
			return err
		}
	}
	maps.DeleteFunc(now, func(_ string, uid types.UID) bool { return uid == "" })
	if len(now) == 0 {
		delete(r.held, service)
	} else {
		r.held[service] = now
	}
	return nil
}

// now are the addresses that a service has, without a uid where an IPAddress is not there, or
// not its own.
func (r *Release) now(ctx context.Context, service types.NamespacedName) (heldAddresses, error) {
	found, err := r.objects.Get(ctx, services, service.Namespace, service.Name)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	out := heldAddresses{}
	for _, ip := range addressesOfService(found) {
		uid, err := r.address(ctx, service, ip.String())
		if err != nil {
			return nil, err
		}
		out[ip.String()] = uid
	}
	return out, nil
}

// address is the uid of the IPAddress of a service; "" where it is not there, or not its own.
func (r *Release) address(ctx context.Context, service types.NamespacedName, ip string) (types.UID, error) {
	address, err := r.objects.Get(ctx, addresses, "", ip)
	if apierrors.IsNotFound(err) {
		// It was made before the service, whose event may be ahead.
		if err = r.objects.Fresh(ctx); err == nil {
			address, err = r.objects.Get(ctx, addresses, "", ip)
		}
	}
	if err != nil {
		return "", ignoreNotFound(err)
	}
	parent := parentOf(address) // by how its name begins, where the server has made that
	if !ours(address) || object.TextAt(parent, "namespace") != service.Namespace || !strings.HasPrefix(service.Name, object.TextAt(parent, "name")) {
		return "", nil
	}
	return address.GetUID(), nil
}
