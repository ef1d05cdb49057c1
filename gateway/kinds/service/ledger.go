package service

import (
	"context"
	"errors"
	"net/netip"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// Ledger keeps IPAddresses in step with the services that there are: those that
// are left of services that went, or of writes that failed, go; one that a
// service has and somebody deleted is made again, unless another got it meanwhile.
type Ledger struct{ objects Objects }

// NewLedger makes the controller.
func NewLedger(objects Objects) *Ledger { return &Ledger{objects} }

// Name implements [controller.Controller].
func (l *Ledger) Name() string { return "cluster-ips" }

// Watches implements [controller.Controller]: a pass looks at everything, so
// there is one now and then.
func (l *Ledger) Watches() []schema.GroupResource { return nil }

// Seeds implements [controller.Seeded].
func (l *Ledger) Seeds() []controller.Key { return []controller.Key{{GroupResource: addresses}} }

// Resync implements [controller.Resyncing].
func (l *Ledger) Resync() time.Duration { return stale }

// Reconcile implements [controller.Controller].
func (l *Ledger) Reconcile(ctx context.Context, _ controller.Queue, _ controller.Key) error {
	if err := l.objects.Fresh(ctx); err != nil {
		return err
	}
	// Before the services: a service whose address is not among these yet is
	// one of those.
	known, err := l.objects.List(ctx, addresses, "")
	if err != nil {
		return err
	}
	all, err := l.objects.List(ctx, services, "")
	if err != nil {
		return err
	}
	missing := map[netip.Addr]*unstructured.Unstructured{}
	for _, s := range all {
		for _, ip := range addressesOfService(s) {
			missing[ip] = s
		}
	}
	var failed failures
	for _, a := range known {
		ip, _ := netip.ParseAddr(a.GetName()) // the API takes no other names
		if missing[ip] != nil || !ours(a) || time.Since(a.GetCreationTimestamp().Time) < stale {
			delete(missing, ip)
		} else if failed.add(l.objects.Delete(ctx, addresses, "", a.GetName(), *asSeen(a))) {
			break
		}
	}
	for ip, s := range missing {
		if _, err := l.objects.Create(ctx, addresses, addressOf(ip, s.GetNamespace(), s.GetName())); failed.add(err) {
			break
		}
	}
	return errors.Join(failed...)
}

// failures are what failed in one pass.
type failures []error

// maxFailures is how many end a pass.
const maxFailures = 10

// add adds an error, unless somebody else did what failed, or something else,
// first: the next pass looks again. It tells when to stop.
func (f *failures) add(err error) (enough bool) {
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && ignoreNotFound(err) != nil {
		*f = append(*f, err)
	}
	return len(*f) >= maxFailures
}
