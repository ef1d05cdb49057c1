package service

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/controller"
)

// Release gives the address of a service back when that goes, or has another. What it
// does not see, as nobody was elected, is the [Ledger]'s.
type Release struct {
	objects Objects
	// held are the addresses of services as they were seen last. Reconciling has them for itself.
	held map[types.NamespacedName]heldAddress
}

// heldAddress is the IPAddress of a service. The uid tells it from one that another
// write has made since.
type heldAddress struct {
	ip  string
	uid types.UID
}

// NewRelease makes the controller.
func NewRelease(objects Objects) *Release {
	return &Release{objects, map[types.NamespacedName]heldAddress{}}
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
	before := r.held[service]
	if before.ip != "" && before.ip != now.ip {
		err = r.objects.Delete(ctx, addresses, "", before.ip, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &before.uid}})
		if !apierrors.IsConflict(err) && ignoreNotFound(err) != nil {
			return err
		}
	}
	if now.uid == "" {
		delete(r.held, service)
	} else {
		r.held[service] = now
	}
	return nil
}

// now is the address that a service has, without a uid where its IPAddress is not there, or
// not its own.
func (r *Release) now(ctx context.Context, service types.NamespacedName) (heldAddress, error) {
	found, err := r.objects.Get(ctx, services, service.Namespace, service.Name)
	if err != nil {
		return heldAddress{}, ignoreNotFound(err)
	}
	ip := addressOfService(found)
	if !ip.IsValid() {
		return heldAddress{}, nil
	}
	var address *unstructured.Unstructured
	if address, err = r.objects.Get(ctx, addresses, "", ip.String()); apierrors.IsNotFound(err) {
		// It was made before the service, whose event may be ahead.
		if err = r.objects.Fresh(ctx); err == nil {
			address, err = r.objects.Get(ctx, addresses, "", ip.String())
		}
	}
	if err != nil {
		return heldAddress{ip: ip.String()}, ignoreNotFound(err)
	}
	parent := parentOf(address) // by how its name begins, where the server has made that
	if !ours(address) || object.TextAt(parent, "namespace") != service.Namespace || !strings.HasPrefix(service.Name, object.TextAt(parent, "name")) {
		return heldAddress{ip: ip.String()}, nil
	}
	return heldAddress{ip.String(), address.GetUID()}, nil
}
