package service

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
)

// stale is the age from which an address is free again that no service has: a
// write that took it has long ended.
const stale = time.Minute

// reserve takes an address for the service. An IPAddress of that name, of which
// there can be only one however many gateways there are, tells that it is
// taken. It is given back when the service is refused, but not where it was taken
// over from a write of the same service, which may go on.
func (s *request) reserve(ctx context.Context, addr netip.Addr) error {
	if s.write.IsDryRun() {
		_, err := s.objects.Get(ctx, addresses, "", addr.String())
		if err == nil {
			return apierrors.NewAlreadyExists(addresses, addr.String())
		}
		return ignoreNotFound(err)
	}
	mine := addressOf(addr, s.write.GetNamespace(), name(s.write))
	made, err := s.objects.Create(ctx, addresses, mine)
	if err == nil {
		givesBack(s, made)
	}
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if cleared, clearErr := s.clear(ctx, addr.String()); clearErr != nil || !cleared {
		return cmp.Or(clearErr, err)
	}
	_, err = s.objects.Create(ctx, addresses, mine) // which only one can that saw the same leftover
	return err
}

// givesBack has an address free again at once when the service is refused. Where that
// fails it is left to the [Ledger].
func givesBack(s *request, address *unstructured.Unstructured) {
	ip, uid := address.GetName(), address.GetUID()
	s.write.Undo(func(ctx context.Context) {
		_ = s.objects.Delete(ctx, addresses, "", ip, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	})
}

// clear removes the IPAddress that is left of a service that is gone. It is
// false if it is not left over, or somebody else was faster.
func (s *request) clear(ctx context.Context, ip string) (bool, error) {
	if err := s.objects.Fresh(ctx); err != nil {
		return false, err
	}
	held, err := s.objects.Get(ctx, addresses, "", ip)
	if err != nil {
		return apierrors.IsNotFound(err), ignoreNotFound(err)
	}
	if taken, err := s.taken(ctx, held); taken || err != nil {
		return false, err
	}
	all, err := s.objects.List(ctx, services, "")
	if err != nil {
		return false, err
	}
	for _, other := range all {
		if has(other, ip) {
			return false, nil
		}
	}
	err = s.objects.Delete(ctx, addresses, "", ip, *asSeen(held))
	if apierrors.IsConflict(err) {
		return false, nil
	}
	return true, ignoreNotFound(err)
}

// taken tells, without looking at all services, that an IPAddress stands for
// what is somebody else's: the service that it names, one that is being
// written, or something that is none of ours.
func (s *request) taken(ctx context.Context, held *unstructured.Unstructured) (bool, error) {
	if !ours(held) {
		return true, nil
	}
	parent := parentOf(held)
	namespace, parentName := object.TextAt(parent, "namespace"), object.TextAt(parent, "name")
	if n := s.write.GetObject().GetName(); n != "" && namespace == s.write.GetNamespace() && parentName == n {
		return false, nil // what a write left that failed serves the next
	}
	if time.Since(held.GetCreationTimestamp().Time) < stale {
		return true, nil
	}
	service, err := s.objects.Get(ctx, services, namespace, parentName)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	return has(service, held.GetName()), nil
}

// has tells whether a service has an address.
func has(service *unstructured.Unstructured, ip string) bool {
	return slices.ContainsFunc(addressesOfService(service), func(a netip.Addr) bool { return a.String() == ip })
}

// known tells whether the cache knows that an address is taken, or left over: whoever
// wants just any leaves those to [Release] and [Ledger].
func (s *request) known(ctx context.Context, ip string) (bool, error) {
	_, err := s.objects.Get(ctx, addresses, "", ip)
	return err == nil, ignoreNotFound(err)
}

// asSeen are the options of a deletion of nothing but the state that was seen.
func asSeen(u *unstructured.Unstructured) *metav1.DeleteOptions {
	uid, revision := u.GetUID(), u.GetResourceVersion()
	return &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &revision}}
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// name is the name of an object, or how it begins.
func name(a admission.Attributes) string {
	if n := a.GetObject().GetName(); n != "" {
		return n
	}
	return a.GetObject().GetGenerateName()
}

// managedBy is the label by which IPAddresses of services are told from those that
// somebody made for something else.
const managedBy, allocator = "ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"

func ours(address *unstructured.Unstructured) bool {
	return address.GetLabels()[managedBy] == allocator
}

func parentOf(address *unstructured.Unstructured) map[string]any {
	return object.Child(object.Child(address.Object, "spec"), "parentRef")
}

func addressOf(addr netip.Addr, namespace, service string) *unstructured.Unstructured {
	family := "IPv4"
	if addr.Is6() {
		family = "IPv6"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
		"metadata": map[string]any{"name": addr.String(), "labels": map[string]any{
			"ipaddress.kubernetes.io/ip-family": family, managedBy: allocator,
		}},
		"spec": map[string]any{"parentRef": map[string]any{"group": "", "resource": "services", "namespace": namespace, "name": service}},
	}}
}
