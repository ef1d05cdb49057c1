package service

import (
	"context"
	"net"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// Gateways have leases as kube-apiservers do, by which others know how many there are,
// and where.
const (
	reachedAt = "kubernetes.io/peer-advertise-address"
	// renewEvery is how often a lease is renewed, and gone how old it is when its
	// gateway counts as gone. After leaseTime it is deleted.
	renewEvery = 10 * time.Second
	gone       = 3 * renewEvery
	leaseTime  = time.Hour
)

var leases = schema.GroupResource{Group: coordinationv1.GroupName, Resource: "leases"}

// Leaving is what a lease is kept and left with.
type Leaving interface {
	Keeper
	client.Freshener
}

// Lease is that of one gateway.
type Lease struct {
	objects                Leaving
	name, holder, hostname string
	// address is where others reach the gateway; "" for nowhere.
	address string
	// trust is what clients verify the gateway by, as PEM.
	trust string

	// mu is held while the lease is written; left: it is not renewed any more.
	mu   sync.Mutex
	left bool
}

// mostTrust is the size of certificates that are told: all annotations of an object have
// 256 KiB.
const mostTrust = 64 << 10

// NewLease is the lease of the gateway that is called gateway: its host and port. trust is
// what clients verify it by, as PEM.
func NewLease(objects Leaving, o options.Serve, gateway string, trust []byte) *Lease {
	host, port, err := net.SplitHostPort(gateway)
	if err != nil {
		host = gateway
	}
	l := &Lease{objects: objects, hostname: host}
	if len(trust) <= mostTrust {
		l.trust = string(trust)
	}
	if ip := advertised(o); ip != "" && err == nil {
		l.address = net.JoinHostPort(ip, port)
	}
	// Gateways of one hostname and port would else take turns in one lease, and with them
	// what follows from it.
	l.name = kinds.Identity(gateway + "\n" + l.address + "\n" + l.trust)
	l.holder = l.name + "_" + string(uuid.NewUUID())
	return l
}

// advertised is the address by which others reach this gateway, as kube-apiserver
// chooses it; "" where the machine has none.
func advertised(o options.Serve) string {
	if o.AdvertiseAddress != "" {
		return o.AdvertiseAddress
	}
	ip, err := utilnet.ResolveBindAddress(net.ParseIP(o.BindAddress))
	if err != nil || ip.IsLoopback() {
		return ""
	}
	return ip.String()
}

// Renew says that the gateway is there, unless it left.
func (l *Lease) Renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left {
		return nil
	}
	obj, err := l.objects.Get(ctx, leases, metav1.NamespaceSystem, l.name)
	there := err == nil
	if !there && !apierrors.IsNotFound(err) {
		return err
	}
	if !there {
		obj = &unstructured.Unstructured{Object: map[string]any{"apiVersion": coordinationv1.SchemeGroupVersion.String(), "kind": "Lease"}}
		obj.SetName(l.name)
		obj.SetNamespace(metav1.NamespaceSystem)
	}
	obj.SetLabels(with(obj.GetLabels(), kinds.IdentityLabel, kinds.IdentityOfServer, "kubernetes.io/hostname", l.hostname))
	if l.address != "" {
		obj.SetAnnotations(with(obj.GetAnnotations(), reachedAt, l.address))
	}
	if l.trust != "" {
		obj.SetAnnotations(with(obj.GetAnnotations(), kinds.AuthoritiesKey, l.trust))
	}
	seconds, now := int32(leaseTime/time.Second), metav1.NowMicro()
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&coordinationv1.LeaseSpec{HolderIdentity: &l.holder, LeaseDurationSeconds: &seconds, RenewTime: &now})
	if err != nil {
		return err
	}
	obj.Object["spec"] = spec
	if there {
		_, err = l.objects.Update(ctx, leases, "", obj)
	} else {
		_, err = l.objects.Create(ctx, leases, obj)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil // the next time
	}
	return err
}

// Leave takes the gateway out of the endpoints of the API, before it ceases to answer;
// the last one stays there. The lease itself is left to run out, as kube-apiserver leaves
// its own.
func (l *Lease) Leave(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = true
	if l.address == "" {
		return nil
	}
	var err error
	for range leaveTries {
		if err = l.goAway(ctx); !apierrors.IsConflict(err) {
			break
		}
	}
	return gvr.IgnoreNotFound(err)
}

// leaveTries is how often a gateway that leaves tries again when others write the same
// objects: the one that keeps the endpoints, and those that leave with it.
const leaveTries = 5

// goAway has the lease not say any more where the gateway is, and keeps the endpoints
// itself: who does that otherwise may be this gateway, or come late.
func (l *Lease) goAway(ctx context.Context) error {
	if err := l.objects.Fresh(ctx); err != nil {
		return err
	}
	obj, err := l.objects.Get(ctx, leases, metav1.NamespaceSystem, l.name)
	if err != nil {
		return err
	}
	if about := obj.GetAnnotations(); about[reachedAt] != "" {
		delete(about, reachedAt)
		obj.SetAnnotations(about)
		if _, err := l.objects.Update(ctx, leases, "", obj); err != nil {
			return err
		}
		if err := l.objects.Fresh(ctx); err != nil {
			return err
		}
	}
	return NewEndpoints(l.objects).Reconcile(ctx, nil, ofAPI)
}

// with is a map with more in it; pairs are keys and values.
func with(m map[string]string, pairs ...string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}
