package service

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// added is a queue of what a controller adds.
type added []controller.Key

func (a *added) Add(k controller.Key)                       { *a = append(*a, k) }
func (a *added) AddAfter(controller.Key, time.Duration)     {}
func (a *added) Follow(controller.Key, ...controller.Scope) {}

// The endpoints of the API are the gateways that renew their leases.
func TestEndpointsOfTheAPI(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	w.must(gvr.Namespaces, "", `{"metadata":{"name":"kube-system"}}`)
	e := NewEndpoints(w.Client)
	renew := func(gateway, address string) *Lease {
		t.Helper()
		o := options.Default()
		o.AdvertiseAddress = address
		l := NewLease(w.Client, o, gateway, nil)
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.fresh()
		return l
	}
	want := func(addresses string) {
		t.Helper()
		if err := e.Reconcile(t.Context(), nil, ofAPI); err != nil {
			t.Fatal(err)
		}
		w.fresh()
		old, err := w.Client.Get(t.Context(), endpoints, "default", "kubernetes")
		if err != nil {
			t.Fatal(err)
		}
		part, err := w.Client.Get(t.Context(), parts, "default", "kubernetes")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []*unstructured.Unstructured{old, part} {
			for _, a := range []string{"192.0.2.1", "192.0.2.2"} {
				if text := fmt.Sprint(o.Object); strings.Contains(text, a) != strings.Contains(addresses, a) || !strings.Contains(text, "6443") {
					t.Errorf("%s: want %s: %s", o.GetKind(), addresses, text)
				}
			}
		}
		if old.GetLabels()["endpointslice.kubernetes.io/skip-mirror"] != "true" || part.GetLabels()["kubernetes.io/service-name"] != "kubernetes" {
			t.Errorf("%v %v", old.GetLabels(), part.GetLabels())
		}
	}
	renew("one:6443", "192.0.2.1")
	want("192.0.2.1")
	second := renew("two:6443", "192.0.2.2")
	want("192.0.2.1 192.0.2.2")
	renew("two:6443", "192.0.2.2")
	want("192.0.2.1 192.0.2.2")

	old := func(name string, age time.Duration) {
		t.Helper()
		l, err := w.Client.Get(t.Context(), leases, "kube-system", name)
		if err != nil {
			t.Fatal(err)
		}
		l.Object["spec"].(map[string]any)["renewTime"] = time.Now().Add(-age).UTC().Format("2006-01-02T15:04:05.000000Z")
		if _, err := w.Client.Update(t.Context(), leases, "", l); err != nil {
			t.Fatal(err)
		}
		w.fresh()
	}
	old(second.name, gone)
	want("192.0.2.1")
	old(second.name, leaseTime+time.Minute)
	want("192.0.2.1")
	if _, err := w.Client.Get(t.Context(), leases, "kube-system", second.name); !apierrors.IsNotFound(err) {
		t.Errorf("a lease that ran out long ago is there: %v", err)
	}
}

// A gateway that stops is no endpoint any more when it has said so, also where another
// keeps the endpoints at the same time; the last one stays, and leases run out by
// themselves.
func TestAGatewayThatStopsLeavesTheEndpoints(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	w.must(gvr.Namespaces, "", `{"metadata":{"name":"kube-system"}}`)
	lease := func(name, address string) *Lease {
		t.Helper()
		o := options.Default()
		o.AdvertiseAddress = address
		l := NewLease(w.Client, o, name, []byte("trust"))
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.fresh()
		return l
	}
	all := []*Lease{lease("one:6443", "192.0.2.1"), lease("two:6443", "192.0.2.2"), lease("three:6443", "192.0.2.3")}
	if err := NewEndpoints(w.Client).Reconcile(t.Context(), nil, ofAPI); err != nil {
		t.Fatal(err)
	}
	at := func() (found []string) {
		t.Helper()
		w.fresh()
		for _, gr := range []schema.GroupResource{endpoints, parts} {
			obj, err := w.Client.Get(t.Context(), gr, "default", "kubernetes")
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"} {
				if strings.Contains(fmt.Sprint(obj.Object), a) {
					found = append(found, a)
				}
			}
		}
		return found
	}
	var leaving sync.WaitGroup
	for _, l := range all[1:] {
		leaving.Go(func() {
			if err := l.Leave(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	leaving.Wait()
	if got := at(); fmt.Sprint(got) != "[192.0.2.1 192.0.2.1]" {
		t.Errorf("two left, and there are %v", got)
	}
	if err := all[1].Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := all[0].Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := at(); fmt.Sprint(got) != "[192.0.2.1 192.0.2.1]" {
		t.Errorf("all left, and there are %v", got)
	}
	for _, l := range all {
		obj, err := w.Client.Get(t.Context(), leases, "kube-system", l.name)
		if err != nil || obj.GetAnnotations()[reachedAt] != "" || obj.GetAnnotations()[kinds.AuthoritiesKey] != "trust" {
			t.Errorf("the lease is %v, %v", obj, err)
		}
	}
	if err := lease("one:6443", "192.0.2.1").Renew(t.Context()); err != nil { // it is started again
		t.Fatal(err)
	}
	if obj, err := w.Client.Get(t.Context(), leases, "kube-system", all[0].name); err != nil || obj.GetAnnotations()[reachedAt] != "192.0.2.1:6443" {
		t.Errorf("started again: %v, %v", obj, err)
	}
}

// What concerns the endpoints has them looked at, and nothing else.
func TestEndpointsFollowLeasesOfGateways(t *testing.T) {
	e := NewEndpoints(newWorld(t, "10.0.0.0/24", Ports{30000, 30100}).Client)
	var q added
	for _, k := range []controller.Key{{GroupResource: leases, Namespace: "kube-system", Name: "apiserver-x"}, {GroupResource: leases, Namespace: "kube-system", Name: "x"}, {GroupResource: parts, Namespace: "default", Name: "kubernetes"}} {
		if err := e.Reconcile(t.Context(), &q, k); err != nil {
			t.Fatal(err)
		}
	}
	if len(q) != 2 || q[0] != ofAPI || q[1] != ofAPI {
		t.Errorf("%v", q)
	}
}

// The default range of addresses is there and ready, again when somebody deletes it.
func TestTheDefaultServiceCIDR(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	r := NewRange(w.Client, Config{Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}})
	for range 2 {
		for range 2 {
			if err := r.Reconcile(t.Context(), nil, r.Seeds()[0]); err != nil {
				t.Fatal(err)
			}
			w.fresh()
		}
		got, err := w.Client.Get(t.Context(), serviceCIDRs, "", "kubernetes")
		if err != nil {
			t.Fatal(err)
		}
		conditions, err := gvr.Conditions(got)
		if err != nil || fmt.Sprint(gvr.Section(got, "spec")["cidrs"]) != "[10.0.0.0/24]" || len(conditions) != 1 || conditions[0].Type != "Ready" || conditions[0].Status != "True" || conditions[0].Message != "Kubernetes default Service CIDR is ready" {
			t.Errorf("%v %v", got.Object, err)
		}
		if err := w.Client.Delete(t.Context(), serviceCIDRs, "", "kubernetes", *asSeen(got)); err != nil {
			t.Fatal(err)
		}
		w.fresh()
	}
}

// interrupted is somebody who does something between a list of leases and what comes of it.
type interrupted struct {
	Keeper
	by func()
}

func (i *interrupted) List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error) {
	all, err := i.Keeper.List(ctx, gr, namespace)
	if by := i.by; by != nil {
		i.by = nil
		by()
	}
	return all, err
}

// Who keeps the endpoints and has heard of less than who wrote them last does not write.
func TestEndpointsAreKeptByWhoHeardLast(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	w.must(gvr.Namespaces, "", `{"metadata":{"name":"kube-system"}}`)
	var all []*Lease
	for i, name := range []string{"one:6443", "two:6443"} {
		o := options.Default()
		o.AdvertiseAddress = fmt.Sprint("192.0.2.", i+1)
		l := NewLease(w.Client, o, name, []byte("trust"))
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	w.fresh()
	if err := NewEndpoints(w.Client).Reconcile(t.Context(), nil, ofAPI); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	slow := &interrupted{Keeper: w.Client, by: func() {
		if err := all[1].Leave(t.Context()); err != nil {
			t.Error(err)
		}
		w.fresh()
	}}
	obj, err := w.Client.Get(t.Context(), endpoints, "default", "kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	obj.SetLabels(nil) // so that there is something to write
	if _, err := w.Client.Update(t.Context(), endpoints, "", obj); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	if err := NewEndpoints(slow).Reconcile(t.Context(), nil, ofAPI); !apierrors.IsConflict(err) {
		t.Errorf("it wrote what it knew: %v", err)
	}
	w.fresh()
	if obj, err = w.Client.Get(t.Context(), endpoints, "default", "kubernetes"); err != nil || strings.Contains(fmt.Sprint(obj.Object), "192.0.2.2") {
		t.Errorf("who left is there: %v, %v", obj, err)
	}
}
