package service

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// two are gateways over one store.
func two(t *testing.T, ports Ports) [2]*world {
	t.Helper()
	store := storagetest.NewMemory()
	out := [2]*world{newGateway(t, store, "10.0.0.0/24", ports), newGateway(t, store, "10.0.0.0/24", ports)}
	out[0].must(schema.GroupResource{Resource: "namespaces"}, "", `{"metadata":{"name":"default"}}`)
	for _, w := range out {
		w.fresh()
	}
	return out
}

func (w *world) fresh() {
	w.t.Helper()
	if err := w.Client.Fresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// leave puts an IPAddress into the store as it was left an hour ago.
func (w *world) leave(ip, service string, labels string) {
	w.t.Helper()
	body := fmt.Sprintf(`{"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":{"name":%q,"uid":%q,"creationTimestamp":%q,"labels":{%s}},
		"spec":{"parentRef":{"group":"","resource":"services","namespace":"default","name":%q}}}`,
		ip, "uid-"+ip, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), labels, service)
	if _, err := w.store.Create(w.t.Context(), "/registry/ipaddresses/"+ip, []byte(body), 0); err != nil {
		w.t.Fatal(err)
	}
	w.fresh()
}

const byAllocator = `"ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"`

// once makes one service on each gateway at once, and checks that one of them
// is refused.
func once(t *testing.T, gateways [2]*world, refusal string, body func(gateway int) string) {
	t.Helper()
	var all sync.WaitGroup
	var made atomic.Int32
	for i, w := range gateways {
		all.Go(func() {
			switch _, got := w.create(services, body(i), false); {
			case got == "":
				made.Add(1)
			case !strings.Contains(got, refusal):
				t.Error(got)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d of two were made: %s", made.Load(), body(0))
	}
	for _, w := range gateways {
		w.fresh()
	}
}

func TestGatewaysGiveNoNodePortTwice(t *testing.T) {
	g := two(t, Ports{30000, 30100})
	var all sync.WaitGroup
	for i, w := range g {
		for n := range 10 {
			all.Go(func() { w.must(services, "", service(fmt.Sprintf("s%d-%d", i, n), `"type":"NodePort"`)) })
		}
	}
	all.Wait()
	g[0].fresh()
	list, err := g[0].Client.List(t.Context(), services, "")
	if err != nil || len(list) != 20 {
		t.Fatal(len(list), err)
	}
	seen := map[int64]bool{}
	for _, s := range list {
		for port := range portsOf(object.Child(s.Object, "spec")) {
			if seen[port] {
				t.Errorf("%d twice", port)
			}
			seen[port] = true
		}
	}
	for n := range 10 {
		once(t, g, "provided port is already allocated", func(i int) string {
			return fmt.Sprintf(`{"metadata":{"name":"e%d-%d"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":%d}]}}`, n, i, 30050+n)
		})
	}
}

// A port of a write that failed is free at once, on every gateway.
func TestFailedWritesKeepNoNodePort(t *testing.T) {
	g := two(t, Ports{30000, 30000})
	invalid := `{"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[{"port":80},{"port":80,"protocol":"UDP"}]}}`
	for _, w := range g {
		if _, refusal := w.create(services, invalid, false); !strings.Contains(refusal, "Required value") {
			t.Fatal(refusal)
		}
	}
	g[1].must(services, "", service("s", `"type":"NodePort"`))
	g[1].must(services, "s", `{"metadata":{"name":"s"},"spec":{"type":"ClusterIP","ports":[{"port":80}]}}`)
	g[0].must(services, "", service("next", `"type":"NodePort"`))
}

// Of what is left of a service that is gone nobody else has anything, however
// many want it at once.
func TestLeftoverAddressesAreGivenOnce(t *testing.T) {
	g := two(t, Ports{30000, 30100})
	for n := range 10 {
		ip := fmt.Sprint("10.0.0.", 10+n)
		g[0].leave(ip, "gone", byAllocator)
		g[1].fresh()
		once(t, g, "provided IP is already allocated", func(i int) string {
			return service(fmt.Sprintf("s%d-%d", n, i), `"clusterIP":"`+ip+`"`)
		})
		held, err := g[0].Client.Get(t.Context(), addresses, "", ip)
		if err != nil || !strings.HasPrefix(object.TextAt(parentOf(held), "name"), fmt.Sprintf("s%d-", n)) {
			t.Errorf("%s is shown as %v, %v", ip, held, err)
		}
	}
}

// Services whose names the server makes up are different services, also while
// they are written: what one has taken is not what a write of the other left.
func TestServicesOfGeneratedNamesShareNoAddress(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	if _, err := w.Client.Create(t.Context(), addresses, addressOf(netip.MustParseAddr("10.0.0.10"), "default", "svc-")); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	_, refusal := w.create(services, `{"metadata":{"generateName":"svc-"},"spec":{"clusterIP":"10.0.0.10","ports":[{"port":80}]}}`, false)
	if !strings.Contains(refusal, "provided IP is already allocated") {
		t.Errorf("%q", refusal)
	}
}

// What somebody else keeps an address for is not free, however old it is.
func TestAddressesOfOthersAreNotFree(t *testing.T) {
	w := newWorld(t, "10.0.0.0/29", Ports{30000, 30100})
	for n := 2; n < 7; n++ {
		w.leave(fmt.Sprint("10.0.0.", n), "gateway", `"ipaddress.kubernetes.io/managed-by":"somebody"`)
	}
	if _, refusal := w.create(services, service("s", `"clusterIP":"10.0.0.3"`), false); !strings.Contains(refusal, "already allocated") {
		t.Errorf("by name: %q", refusal)
	}
	if _, refusal := w.create(services, service("s", `"type":"ClusterIP"`), false); !strings.Contains(refusal, "range is full") {
		t.Errorf("any: %q", refusal)
	}
}

func TestLedger(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	w.must(services, "", service("here", `"clusterIP":"10.0.0.10"`))
	w.must(services, "", service("none", `"clusterIP":"None"`))
	w.must(services, "", service("bare", `"clusterIP":"10.0.0.11"`))
	w.leave("10.0.0.12", "gone", byAllocator)
	w.leave("10.0.0.13", "gateway", `"ipaddress.kubernetes.io/managed-by":"somebody"`)
	if err := w.Client.Delete(t.Context(), addresses, "", "10.0.0.11", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// As a write leaves one that failed a moment ago.
	if _, err := w.Client.Create(t.Context(), addresses, addressOf(netip.MustParseAddr("10.0.0.14"), "default", "failed")); err != nil {
		t.Fatal(err)
	}
	l := NewLedger(w.Client)
	if l.Name() == "" || len(l.Watches()) != 0 || l.Resync() <= 0 || len(l.Seeds()) != 1 {
		t.Error("it does not run")
	}
	if err := l.Reconcile(t.Context(), nil, controller.Key{}); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	for ip, want := range map[string]bool{"10.0.0.10": true, "10.0.0.11": true, "10.0.0.12": false, "10.0.0.13": true, "10.0.0.14": true} {
		if _, err := w.Client.Get(t.Context(), addresses, "", ip); (err == nil) != want || err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", ip, err)
		}
	}
}

// An address may be written in several ways, and is the same.
func TestTheLedgerKnowsAddressesHoweverTheyAreWritten(t *testing.T) {
	w := newWorld(t, "fd00::/120", Ports{30000, 30100})
	w.must(services, "", service("s", `"clusterIP":"fd00:0:0::A"`))
	if err := w.Client.Delete(t.Context(), addresses, "", "fd00::a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.leave("fd00::a", "other", byAllocator)
	if err := NewLedger(w.Client).Reconcile(t.Context(), nil, controller.Key{}); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	if _, err := w.Client.Get(t.Context(), addresses, "", "fd00::a"); err != nil {
		t.Error(err)
	}
	if _, refusal := w.create(services, service("t", `"clusterIP":"fd00::a"`), false); !strings.Contains(refusal, "already allocated") {
		t.Errorf("%q", refusal)
	}
}

// When the store is away a pass of the ledger ends, and says so.
func TestLedgerFails(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	w.store.Down(fmt.Errorf("away"))
	defer w.store.Down(nil)
	if err := NewLedger(w.Client).Reconcile(t.Context(), nil, controller.Key{}); err == nil {
		t.Error("it does not fail")
	}
}

// Ports of one number that differ in protocol have one node port.
func TestProtocolsOfAPortShareANodePort(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30001})
	body := func(name, tcp, udp string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"type":"NodePort","ports":[{"name":"t","port":53,"protocol":"TCP"%s},{"name":"u","port":53,"protocol":"UDP"%s}]}}`, name, tcp, udp)
	}
	for i, c := range []struct{ tcp, udp string }{{"", ""}, {"", `,"nodePort":30001`}, {`,"nodePort":30001`, `,"nodePort":30001`}} {
		s, refusal := w.create(services, body("s", c.tcp, c.udp), true)
		if refusal != "" {
			t.Errorf("%v: %s", c, refusal)
			continue
		}
		if got := portsOf(object.Child(s, "spec")); len(got) != 1 || i > 0 && !got[30001] {
			t.Errorf("%v: %v", c, got)
		}
	}
	w.must(services, "", body("a", "", ""))
	w.must(services, "", body("b", "", ""))
}

// The address of a service that goes is free at once, also under another name; one that
// another write has taken since stays.
func TestAddressesAreFreeOnceTheirServiceIsGone(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	r := NewRelease(w.Client)
	look := func(name string) {
		t.Helper()
		w.fresh()
		if err := r.Reconcile(t.Context(), nil, controller.Key{GroupResource: services, Namespace: "default", Name: name}); err != nil {
			t.Fatal(err)
		}
		w.fresh()
	}
	gone := func(gr schema.GroupResource, namespace, name string) {
		t.Helper()
		if err := w.Client.Delete(t.Context(), gr, namespace, name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.must(services, "", service("one", `"clusterIP":"10.0.0.10"`))
	look("one")
	if _, refusal := w.create(services, service("two", `"clusterIP":"10.0.0.10"`), false); !strings.Contains(refusal, "already allocated") {
		t.Errorf("%q", refusal)
	}
	gone(services, "default", "one")
	look("one")
	w.must(services, "", service("two", `"clusterIP":"10.0.0.10"`))
	look("two")
	gone(services, "default", "two")
	gone(addresses, "", "10.0.0.10") // by a write that saw what was left
	if _, err := w.Client.Create(t.Context(), addresses, addressOf(netip.MustParseAddr("10.0.0.10"), "default", "three")); err != nil {
		t.Fatal(err)
	}
	look("two")
	if _, err := w.Client.Get(t.Context(), addresses, "", "10.0.0.10"); err != nil {
		t.Errorf("what somebody took meanwhile: %v", err)
	}
	if len(r.held) != 0 {
		t.Errorf("%v are remembered", r.held)
	}
}

// The address of a service that is there stays, whatever became of its IPAddress, and so
// does what another service has.
func TestAddressesOfServicesThatAreThereStay(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	r := NewRelease(w.Client)
	there := func(want bool, names ...string) {
		t.Helper()
		for _, name := range names {
			w.fresh()
			if err := r.Reconcile(t.Context(), nil, controller.Key{GroupResource: services, Namespace: "default", Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		w.fresh()
		if _, err := w.Client.Get(t.Context(), addresses, "", "10.0.0.10"); (err == nil) != want {
			t.Error(err)
		}
	}
	w.must(services, "", service("one", `"clusterIP":"10.0.0.10"`))
	there(true, "one")
	address, err := w.Client.Get(t.Context(), addresses, "", "10.0.0.10")
	if err != nil {
		t.Fatal(err)
	}
	address.SetLabels(nil)
	if _, err := w.Client.Update(t.Context(), addresses, "", address); err != nil {
		t.Fatal(err)
	}
	there(true, "one")
	// Somebody deletes it, another service gets it before the ledger looks, and the first goes.
	if err := w.Client.Delete(t.Context(), addresses, "", "10.0.0.10", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	there(false, "one")
	if _, err := w.Client.Create(t.Context(), addresses, addressOf(netip.MustParseAddr("10.0.0.10"), "default", "two")); err != nil {
		t.Fatal(err)
	}
	there(true, "one")
	if err := w.Client.Delete(t.Context(), services, "default", "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	there(true, "one")
}
