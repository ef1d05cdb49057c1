package service

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// storedHere are the kinds that the controllers of this package look at.
func storedHere() (all []*crd.Definition) {
	for gr, kind := range map[schema.GroupResource]string{services: "Service", endpoints: "Endpoints", parts: "EndpointSlice", addresses: "IPAddress", serviceCIDRs: "ServiceCIDR"} {
		all = append(all, &crd.Definition{Group: gr.Group, Plural: gr.Resource, Kind: kind, Namespaced: gr != addresses && gr != serviceCIDRs, StorageVersion: "v1", KeyPrefix: gr.Resource})
	}
	return all
}

// keptObjects is a fake with what the controllers of this package keep, and a lease of
// long ago.
func keptObjects(t *testing.T) *controllertest.Objects {
	t.Helper()
	o := controllertest.New(storedHere()...)
	for _, ns := range []string{"default", "kube-system"} {
		controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree(ns))
	}
	said := options.Default()
	said.AdvertiseAddress = "192.0.2.1"
	if err := NewLease(o, said, "here:6443", nil).Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	controllertest.MustCreate(t, o, leases, map[string]any{"metadata": map[string]any{"namespace": "kube-system", "name": "apiserver-old", "labels": map[string]any{"apiserver.kubernetes.io/identity": "kube-apiserver"}}})
	return o
}

// Whatever call of a controller fails, it says so, and the next run mends what is left and
// writes nothing that is there.
func TestFailuresOfControllersAreTold(t *testing.T) {
	c := Config{Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}
	for what, run := range map[string]func(f *controllertest.Failing) error{
		"the service of the API": func(f *controllertest.Failing) error {
			return NewAPI(f, c, 6443).Reconcile(t.Context(), nil, NewAPI(f, c, 6443).Seeds()[0])
		},
		"the default ServiceCIDR": func(f *controllertest.Failing) error {
			return NewRange(f, c).Reconcile(t.Context(), nil, NewRange(f, c).Seeds()[0])
		},
		"the endpoints": func(f *controllertest.Failing) error { return NewEndpoints(f).Reconcile(t.Context(), nil, ofAPI) },
		"a lease": func(f *controllertest.Failing) error {
			return NewLease(f, options.Default(), "there:6443", nil).Renew(t.Context())
		},
	} {
		t.Run(what, func(t *testing.T) {
			done := func(f *controllertest.Failing) error {
				objects := f.Engine.(*controllertest.Objects)
				before := objects.Writes()
				if err := run(f); err != nil || objects.Writes() != before {
					return fmt.Errorf("it writes what is there, or fails: %w", err)
				}
				return nil
			}
			if what == "a lease" { // which is written each time
				done = nil
			}
			controllertest.EachCallFails(t, 2, func() controllertest.Engine { return keptObjects(t) }, run, done)
		})
	}
}

// Who was faster did what had to be done: that is no failure. Who has written since
// something was read may have heard of less, and then it is a conflict, which is tried again.
func TestWhoWasFasterIsNoFailure(t *testing.T) {
	c := Config{Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}
	exists, conflict, notFound := apierrors.NewAlreadyExists(services, "x"), apierrors.NewConflict(services, "x", controllertest.ErrAway), apierrors.NewNotFound(services, "x")
	for what, try := range map[string]struct {
		run    func(s *controllertest.Failing) error
		number int
		with   error
		fails  bool
	}{
		"the service is there": {func(s *controllertest.Failing) error {
			return NewAPI(s, c, 6443).Reconcile(t.Context(), nil, NewAPI(s, c, 6443).Seeds()[0])
		}, 3, exists, false},
		"the range is there": {func(s *controllertest.Failing) error {
			return NewRange(s, c).Reconcile(t.Context(), nil, NewRange(s, c).Seeds()[0])
		}, 2, exists, false},
		"the old lease went":      {func(s *controllertest.Failing) error { return NewEndpoints(s).Reconcile(t.Context(), nil, ofAPI) }, 3, notFound, false},
		"the endpoints are there": {func(s *controllertest.Failing) error { return NewEndpoints(s).Reconcile(t.Context(), nil, ofAPI) }, 4, exists, true},
		"the slice is there":      {func(s *controllertest.Failing) error { return NewEndpoints(s).Reconcile(t.Context(), nil, ofAPI) }, 7, exists, true},
		"the lease is there": {func(s *controllertest.Failing) error {
			return NewLease(s, options.Default(), "g:1", nil).Renew(t.Context())
		}, 2, exists, false},
		"somebody wrote the lease": {func(s *controllertest.Failing) error {
			return NewLease(s, options.Default(), "here:6443", nil).Renew(t.Context())
		}, 2, conflict, false},
		"somebody wrote a condition": {func(s *controllertest.Failing) error {
			return NewRange(s, c).Reconcile(t.Context(), nil, NewRange(s, c).Seeds()[0])
		}, 3, conflict, true},
	} {
		f := &controllertest.Failing{Engine: keptObjects(t), Number: try.number, With: try.with}
		if err := try.run(f); (err != nil) != try.fails || f.Calls < try.number {
			t.Errorf("%s: %v after %d calls", what, err, f.Calls)
		}
	}
	for _, key := range []controller.Key{{GroupResource: services, Namespace: "default", Name: "other"}, {GroupResource: services, Namespace: "other", Name: kubernetes}} {
		f := &controllertest.Failing{Engine: keptObjects(t)}
		if err := errors.Join(NewAPI(f, c, 6443).Reconcile(t.Context(), nil, key), NewRange(f, c).Reconcile(t.Context(), nil, controller.Key{Name: "other"})); err != nil || f.Calls != 0 {
			t.Errorf("%v is looked at: %v", key, err)
		}
	}
}

// A range that is as it should be is only looked at.
func TestAReadyRangeIsLeftAlone(t *testing.T) {
	f := &controllertest.Failing{Engine: keptObjects(t)}
	r := NewRange(f, Config{Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}})
	for run, want := range []int{3, 1} { // get, create and update; get
		f.Calls = 0
		if err := r.Reconcile(t.Context(), nil, r.Seeds()[0]); err != nil || f.Calls != want {
			t.Errorf("run %d: %d calls, want %d, %v", run, f.Calls, want, err)
		}
	}
}

// aged shows addresses as they are an hour later.
type aged struct{ controllertest.Engine }

func (a aged) List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error) {
	all, err := a.Engine.List(ctx, gr, namespace)
	for _, o := range all {
		o.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-time.Hour)))
	}
	return all, err
}

// The ledger tells what fails, goes on with the rest, and ends where everything fails.
func TestTheLedgerGoesOnAfterFailures(t *testing.T) {
	scene := func() *controllertest.Objects {
		o := keptObjects(t)
		for i := range 12 {
			ip := fmt.Sprint("10.0.0.", 10+i)
			a := addressOf(netip.MustParseAddr(ip), "default", "gone")
			controllertest.MustCreate(t, o, addresses, a.Object)
			controllertest.MustCreate(t, o, services, map[string]any{"metadata": map[string]any{"namespace": "default", "name": fmt.Sprint("s", i)}, "spec": map[string]any{"clusterIP": fmt.Sprint("10.0.1.", 10+i)}})
		}
		return o
	}
	for number := 1; number <= 3; number++ { // Fresh, and the lists
		f := &controllertest.Failing{Engine: scene(), Number: number, With: controllertest.ErrAway}
		if err := NewLedger(f).Reconcile(t.Context(), nil, controller.Key{}); !errors.Is(err, controllertest.ErrAway) || f.Calls != number {
			t.Errorf("call %d: %v after %d calls", number, err, f.Calls)
		}
	}
	for number, with := range map[int]error{4: controllertest.ErrAway, 20: controllertest.ErrAway, 5: apierrors.NewConflict(addresses, "x", controllertest.ErrAway), 6: apierrors.NewNotFound(addresses, "x"), 21: apierrors.NewAlreadyExists(addresses, "x")} {
		f := &controllertest.Failing{Engine: aged{scene()}, Number: number, With: with}
		if err := NewLedger(f).Reconcile(t.Context(), nil, controller.Key{}); errors.Is(err, controllertest.ErrAway) != (with == controllertest.ErrAway) || f.Calls != 3+12+12 {
			t.Errorf("call %d: %v after %d calls", number, err, f.Calls)
		}
	}
	o := scene()
	deleted, made := 0, 0
	o.Fail(func(op string, _ controller.Key) error {
		switch op {
		case "delete":
			deleted++
		case "create":
			made++
		default:
			return nil
		}
		return controllertest.ErrAway
	})
	if err := NewLedger(aged{o}).Reconcile(t.Context(), nil, controller.Key{}); !errors.Is(err, controllertest.ErrAway) || deleted != maxFailures || made != 1 {
		t.Errorf("%v: %d deleted, %d made", err, deleted, made)
	}
}

// Whatever look-up of a write fails, the write does, and says why; then it can be made.
func TestFailuresOfWritesAreTold(t *testing.T) {
	w := newWorld(t, "10.0.0.0/20", Ports{30000, 30100}) // of which nobody gets the first 256 unasked
	under := w.a.objects.(controllertest.Engine)
	w.must(services, "", service("there", `"clusterIP":"10.0.0.9","type":"NodePort"`))
	for what, c := range map[string]struct {
		first  int
		spec   string
		left   string
		dry    bool
		fewest int
	}{
		"any address":     {20, `"type":"ClusterIP"`, "", false, 2},
		"this address":    {50, `"clusterIP":"10.0.0.%d"`, "", false, 1},
		"tried only":      {80, `"clusterIP":"10.0.0.%d"`, "", true, 1},
		"one that is old": {110, `"clusterIP":"10.0.0.%d"`, "gone", false, 6},
		"any node port":   {140, `"clusterIP":"10.0.0.%d","type":"NodePort"`, "", false, 2},
	} {
		for number := 1; ; number++ {
			ip := c.first + number
			spec := c.spec
			if strings.Contains(spec, "%d") {
				spec = fmt.Sprintf(spec, ip)
			}
			if c.left != "" {
				w.leave(fmt.Sprint("10.0.0.", ip), c.left, byAllocator)
			}
			f := &controllertest.Failing{Engine: under, Number: number, With: controllertest.ErrAway}
			w.a.objects = f
			_, refusal := w.create(services, service(fmt.Sprint("s", ip), spec), c.dry)
			w.a.objects = under
			if f.Calls < number {
				if refusal != "" || f.Calls < c.fewest {
					t.Errorf("%s: %q after %d calls", what, refusal, f.Calls)
				}
				break
			}
			if !strings.Contains(refusal, "the store is away") {
				t.Errorf("%s: call %d fails and is not told: %q", what, number, refusal)
			}
		}
	}
}

// What fails while an address is given back is told, and the next try gives it back.
func TestReleasesThatFailAreTriedAgain(t *testing.T) {
	one := controller.Key{GroupResource: services, Namespace: "default", Name: "one"}
	for number := 1; number <= 5; number++ {
		o := keptObjects(t)
		controllertest.MustCreate(t, o, addresses, addressOf(netip.MustParseAddr("10.0.0.10"), "default", "one").Object)
		controllertest.MustCreate(t, o, services, map[string]any{"metadata": map[string]any{"namespace": "default", "name": "one"}, "spec": map[string]any{"clusterIP": "10.0.0.10"}})
		f := &controllertest.Failing{Engine: o, Number: number, With: controllertest.ErrAway}
		r, failed := NewRelease(f), 0
		for _, gone := range []bool{false, true} {
			if gone {
				if err := o.Delete(t.Context(), services, "default", "one", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			for err := r.Reconcile(t.Context(), nil, one); err != nil; err = r.Reconcile(t.Context(), nil, one) {
				if failed++; !errors.Is(err, controllertest.ErrAway) || failed > 1 {
					t.Fatal(err)
				}
			}
		}
		if _, err := o.Get(t.Context(), addresses, "", "10.0.0.10"); !apierrors.IsNotFound(err) || failed != 1 && number < 5 {
			t.Errorf("call %d: %v after %d failures", number, err, failed)
		}
	}
}

// Whatever call fails while a gateway leaves, that is told, and another try takes it out of
// the endpoints.
func TestFailuresToLeaveAreTold(t *testing.T) {
	said := options.Default()
	said.AdvertiseAddress = "192.0.2.7"
	name := NewLease(nil, said, "there:6443", nil).name
	controllertest.EachCallFails(t, 6, func() controllertest.Engine {
		o := keptObjects(t)
		if err := NewLease(o, said, "there:6443", nil).Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		return o
	}, func(f *controllertest.Failing) error {
		leaves := NewLease(f, said, "there:6443", nil)
		leaves.name = name
		return leaves.Leave(t.Context())
	}, func(f *controllertest.Failing) error {
		text := fmt.Sprint(controllertest.MustGet(t, f.Engine, endpoints, "default", "kubernetes").Object)
		if strings.Contains(text, "192.0.2.7") || !strings.Contains(text, "192.0.2.1") {
			return fmt.Errorf("the endpoints are %s", text)
		}
		if at := controllertest.MustGet(t, f.Engine, leases, "kube-system", name).GetAnnotations()[reachedAt]; at != "" {
			return fmt.Errorf("the lease says %s", at)
		}
		return nil
	})
}

// Leases of others are no gateways, and hide none.
func TestLeasesOfOthersAreNoGateways(t *testing.T) {
	o := keptObjects(t)
	for _, name := range []string{"a", "z"} {
		controllertest.MustCreate(t, o, leases, map[string]any{"metadata": map[string]any{"namespace": "kube-system", "name": name, "annotations": map[string]any{reachedAt: "192.0.2.9:6443"}},
			"spec": map[string]any{"renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")}})
	}
	if got, err := NewEndpoints(o).gateways(t.Context()); err != nil || fmt.Sprint(got) != "[192.0.2.1:6443]" {
		t.Errorf("the gateways are at %v, %v", got, err)
	}
	for _, name := range []string{"a", "z"} {
		controllertest.MustGet(t, o, leases, "kube-system", name) // which nobody deletes
	}
}

// unknown is a write whose former state cannot be had.
type unknown struct{ *admissiontest.Attributes }

func (unknown) GetOldObject(context.Context) (*unstructured.Unstructured, error) {
	return nil, controllertest.ErrAway
}

// A service without a spec is left to validation; of one that is not known nothing is taken
// over.
func TestServicesThatCannotBeCompleted(t *testing.T) {
	a := New(Config{Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}, keptObjects(t))
	for name, c := range map[string]struct {
		o    admission.Operation
		tree map[string]any
		want error
	}{
		"without a spec": {admission.Create, map[string]any{}, nil}, "not known": {admission.Update, map[string]any{"spec": map[string]any{}}, controllertest.ErrAway},
	} {
		changed, err := a.Edit(t.Context(), unknown{&admissiontest.Attributes{Operation: c.o, Objects: &admissiontest.Objects{After: c.tree}}}, c.tree)
		if changed || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", name, changed, err)
		}
	}
}
