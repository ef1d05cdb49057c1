package service

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// world is an engine with an assigner.
type world struct {
	*engine.Engine
	local.Client
	t     testing.TB
	store *storagetest.Memory
	a     *Assigner
}

func newWorld(t testing.TB, addresses string, ports Ports) *world {
	t.Helper()
	w := newGateway(t, storagetest.NewMemory(), addresses, ports)
	w.must(schema.GroupResource{Resource: "namespaces"}, "", `{"metadata":{"name":"default"}}`)
	return w
}

// newGateway is one of those that share a store.
func newGateway(t testing.TB, store *storagetest.Memory, addresses string, ports Ports) *world {
	t.Helper()
	w := &world{t: t, store: store}
	e := realengine.Over(t, store, func(e *engine.Engine) admission.Chain {
		objects := local.New(e, resource.Component("services"))
		var ranges []netip.Prefix
		for r := range strings.SplitSeq(addresses, ",") {
			ranges = append(ranges, netip.MustParsePrefix(r))
		}
		w.a = New(Config{Addresses: ranges, Ports: ports}, objects)
		return admissiontest.Chain(t, w.a, plugin.DefaultTolerationSeconds{NotReady: 300, Unreachable: 300}, plugin.RuntimeClass{Classes: objects}, plugin.Priority{Classes: objects})
	})
	w.Engine, w.Client = e.Verbs, e.Client
	return w
}

// create returns the object, or the error in words.
func (w *world) create(gr schema.GroupResource, body string, dryRun bool) (map[string]any, string) {
	w.t.Helper()
	return w.write(gr, "", body, dryRun)
}

func (w *world) write(gr schema.GroupResource, name, body string, dryRun bool) (map[string]any, string) {
	r := w.Catalog().Snapshot().Resource(gr)
	t := resource.Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion), Name: name}
	if r.Def.Namespaced {
		t.Namespace = "default"
	}
	o := resource.WriteOptions{Caller: resource.Component("test"), DryRun: dryRun}
	var out *resource.Written
	var err error
	if name == "" {
		out, err = w.Engine.Create(w.t.Context(), t, []byte(body), o)
	} else {
		out, err = w.Engine.Update(w.t.Context(), t, []byte(body), o)
	}
	if err != nil {
		return nil, err.Error()
	}
	tree, _, err := object.Parse(out.Object)
	if err != nil {
		w.t.Fatal(err)
	}
	return tree, ""
}

func (w *world) must(gr schema.GroupResource, name, body string) map[string]any {
	w.t.Helper()
	out, refusal := w.write(gr, name, body, false)
	if refusal != "" {
		w.t.Fatal(refusal)
	}
	return out
}

func at(tree map[string]any, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(tree, path...)
	return v
}

func service(name, spec string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"ports":[{"port":80}],%s}}`, name, spec)
}

func TestServicesGetAddresses(t *testing.T) {
	w := newWorld(t, "10.0.0.0/29", Ports{30000, 30001})
	first := w.must(services, "", service("a", `"type":"ClusterIP"`))
	ip, _ := at(first, "spec", "clusterIP").(string)
	if !w.a.config.Addresses[0].Contains(netip.MustParseAddr(ip)) || !reflect.DeepEqual(at(first, "spec", "clusterIPs"), []any{ip}) ||
		!reflect.DeepEqual(at(first, "spec", "ipFamilies"), []any{"IPv4"}) || at(first, "spec", "ipFamilyPolicy") != "SingleStack" {
		t.Errorf("%v", first["spec"])
	}
	seen := map[any]bool{ip: true}
	for i := range 4 { // 2 to 6 are free at first
		s := w.must(services, "", service(fmt.Sprint("b", i), `"type":"ClusterIP"`))
		if got := at(s, "spec", "clusterIP"); seen[got] || got == "10.0.0.0" || got == "10.0.0.1" || got == "10.0.0.7" {
			t.Errorf("%v again, or one that nobody gets", got)
		} else {
			seen[got] = true
		}
	}
	if _, refusal := w.create(services, service("full", `"type":"ClusterIP"`), false); !strings.Contains(refusal, "range is full") {
		t.Errorf("full: %s", refusal)
	}
	for spec, want := range map[string]string{
		`"clusterIP":"` + ip + `"`: `spec.clusterIPs: Invalid value: ["` + ip + `"]: failed to allocate IP ` + ip + `: provided IP is already allocated`,
		`"clusterIP":"10.1.0.1"`:   "failed to allocate IP 10.1.0.1: the provided network does not match the current range",
		`"clusterIP":"10.0.0.0"`:   "failed to allocate IP 10.0.0.0: the provided network does not match the current range",
		`"clusterIP":"10.0.0.7"`:   "failed to allocate IP 10.0.0.7: the provided network does not match the current range",
		`"clusterIP":"x"`:          "spec.clusterIPs[0]: Invalid value: \"x\": must be a valid IP address",
		`"clusterIP":"10.0.0.010"`: "spec.clusterIPs[0]: Invalid value: \"10.0.0.010\": must not have leading 0s",
	} {
		if _, refusal := w.create(services, service("bad", spec), true); !strings.Contains(refusal, want) {
			t.Errorf("%s: %s", spec, refusal)
		}
	}
	for spec, want := range map[string][]any{
		`"clusterIP":"None"`: {"None", "RequireDualStack"}, `"clusterIP":"None","selector":{"a":"b"}`: {"None", "SingleStack"},
		`"type":"ExternalName","externalName":"x.y"`: {nil, nil},
	} {
		s, refusal := w.create(services, service("h", spec), true)
		if got := []any{at(s, "spec", "clusterIP"), at(s, "spec", "ipFamilyPolicy")}; refusal != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %s", spec, got, refusal)
		}
	}
}

// What is said of a service's addresses in two ways has to be the same, and what
// the cluster has not is refused, as by kube-apiserver.
func TestAddressesThatContradict(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30009})
	for spec, want := range map[string]string{
		`"clusterIPs":["10.0.0.92"]`:                                     "spec.clusterIPs: Invalid value: [\"10.0.0.92\"]: must be empty when `clusterIP` is not specified",
		`"clusterIPs":["None"]`:                                          "must be empty when `clusterIP` is not specified",
		`"clusterIP":"10.0.0.91","clusterIPs":["10.0.0.92"]`:             "first value must match `clusterIP`",
		`"clusterIP":"10.0.0.91","clusterIPs":["10.0.0.91","10.0.0.92"]`: "may specify no more than one IP for each IP family",
		`"clusterIP":"10.0.0.91","clusterIPs":["10.0.0.91","fd00::1"],"ipFamilyPolicy":"PreferDualStack"`: "spec.clusterIPs[1]: Invalid value: [\"10.0.0.91\",\"fd00::1\"]: IPv6 is not configured on this cluster",
		`"ipFamilies":["IPv6"]`:                                              "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
		`"ipFamilies":["IPv4","IPv6"]`:                                       "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
		`"ipFamilyPolicy":"RequireDualStack"`:                                "this cluster is not configured for dual-stack services",
		`"type":"ExternalName","externalName":"x.y","clusterIP":"10.0.0.91"`: "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
		`"type":"NodePort","clusterIP":"None"`:                               "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
	} {
		if _, refusal := w.create(services, service("bad", spec), true); !strings.Contains(refusal, want) {
			t.Errorf("%s: %s", spec, refusal)
		}
	}
	s := w.must(services, "", service("a", `"clusterIP":"10.0.0.91"`))
	if !reflect.DeepEqual(at(s, "spec", "clusterIPs"), []any{"10.0.0.91"}) {
		t.Errorf("%v", s["spec"])
	}
	for spec, want := range map[string]string{
		`"clusterIP":"10.0.0.91","clusterIPs":["10.0.0.92"]`: "first value must match `clusterIP`",
		`"clusterIP":"10.0.0.92","clusterIPs":["10.0.0.91"]`: "may not change once set",
		`"clusterIPs":["10.0.0.91"]`:                         "",
		`"clusterIP":"","clusterIPs":["10.0.0.92"]`:          "first value must match `clusterIP`",
		`"clusterIP":"10.0.0.91"`:                            "",
	} {
		if _, refusal := w.write(services, "a", service("a", spec), true); !strings.Contains(refusal, want) || want == "" && refusal != "" {
			t.Errorf("after %s: %q", spec, refusal)
		}
	}
}

// Of a dry run nothing is left, nor of a service that is refused, and what is left of a
// write that nobody knows the end of serves the same service again.
func TestAddressesAreNotLost(t *testing.T) {
	w := newWorld(t, "10.0.0.0/29", Ports{30000, 30001})
	for range 20 {
		if _, refusal := w.create(services, service("dry", `"type":"ClusterIP"`), true); refusal != "" {
			t.Fatal(refusal)
		}
	}
	if all, err := w.Client.List(t.Context(), addresses, ""); err != nil || len(all) != 0 {
		t.Errorf("%d addresses, %v", len(all), err)
	}
	invalid := `{"metadata":{"name":"s"},"spec":{"clusterIP":"10.0.0.3","ports":[{"port":80},{"port":81}]}}`
	if _, refusal := w.create(services, invalid, false); !strings.Contains(refusal, "Required value") {
		t.Fatal(refusal)
	}
	w.must(services, "", service("next", `"clusterIP":"10.0.0.3"`))
	if _, err := w.Client.Create(t.Context(), addresses, addressOf(netip.MustParseAddr("10.0.0.4"), "default", "s")); err != nil {
		t.Fatal(err)
	}
	if err := w.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, refusal := w.create(services, service("other", `"clusterIP":"10.0.0.4"`), false); !strings.Contains(refusal, "already allocated") {
		t.Errorf("another service: %s", refusal)
	}
	w.must(services, "", service("s", `"clusterIP":"10.0.0.4"`))
}

// Writes that are refused take no address from others, however many there are.
func TestRefusedServicesHoldNoAddresses(t *testing.T) {
	w := newWorld(t, "10.0.0.0/28", Ports{30000, 30001})
	w.must(services, "", service("there", `"type":"ClusterIP","clusterIP":"10.0.0.5"`))
	for what, body := range map[string]string{
		"already exists":         service("there", `"type":"ClusterIP"`),
		"Required value":         `{"metadata":{"name":"s"},"spec":{"ports":[{"port":80},{"port":81}]}}`,
		"ports[0].port: Invalid": `{"metadata":{"generateName":"s"},"spec":{"clusterIP":"10.0.0.3","ports":[{"port":70000}]}}`,
		"not in the valid range": `{"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":22}]}}`,
	} {
		for range 20 {
			if _, refusal := w.create(services, body, false); !strings.Contains(refusal, what) {
				t.Fatalf("%s: %q", what, refusal)
			}
			w.fresh()
		}
	}
	if all, err := w.Client.List(t.Context(), addresses, ""); err != nil || len(all) != 1 {
		t.Errorf("there are %d addresses, %v", len(all), err)
	}
	w.must(services, "", service("s", `"type":"ClusterIP"`))
}

func TestServicesKeepWhatTheyHave(t *testing.T) {
	w := newWorld(t, "10.0.0.0/20", Ports{30000, 30009}) // of which nobody gets the first 256 unasked
	s := w.must(services, "", service("a", `"type":"NodePort"`))
	ip := at(s, "spec", "clusterIP")
	port := at(s, "spec", "ports").([]any)[0].(map[string]any)["nodePort"]
	if port != int64(30000) || at(s, "spec", "externalTrafficPolicy") != "Cluster" {
		t.Errorf("%v", s["spec"])
	}
	s = w.must(services, "a", service("a", `"type":"NodePort","selector":{"x":"y"}`))
	if at(s, "spec", "clusterIP") != ip || at(s, "spec", "ports").([]any)[0].(map[string]any)["nodePort"] != port {
		t.Errorf("after an update %v", s["spec"])
	}
	if _, refusal := w.write(services, "a", service("a", `"type":"NodePort","clusterIP":"10.0.0.250"`), false); !strings.Contains(refusal, "may not change once set") {
		t.Errorf("another address: %s", refusal)
	}
	kept := fmt.Sprintf(`{"metadata":{"name":"a"},"spec":{"type":"ClusterIP","externalTrafficPolicy":"Cluster","clusterIP":%q,"ports":[{"port":80,"protocol":"TCP","nodePort":30000}]}}`, ip)
	s = w.must(services, "a", kept)
	if at(s, "spec", "ports").([]any)[0].(map[string]any)["nodePort"] != nil || at(s, "spec", "externalTrafficPolicy") != nil || at(s, "spec", "clusterIP") != ip {
		t.Errorf("after another type %v", s["spec"])
	}
	s = w.must(services, "a", fmt.Sprintf(`{"metadata":{"name":"a"},"spec":{"type":"ExternalName","externalName":"x.y","clusterIP":%q,"clusterIPs":[%q]}}`, ip, ip))
	if at(s, "spec", "clusterIP") != nil || at(s, "spec", "ipFamilies") != nil {
		t.Errorf("as an external name %v", s["spec"])
	}
}

func TestNodePorts(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30002})
	w.must(services, "", `{"metadata":{"name":"a"},"spec":{"type":"NodePort","ports":[{"name":"x","port":80,"nodePort":30001},{"name":"y","port":81}]}}`)
	for body, want := range map[string]string{
		`"ports":[{"port":80,"nodePort":30001}]`: "spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated",
		`"ports":[{"port":80,"nodePort":30000}]`: "provided port is already allocated",
		`"ports":[{"port":80,"nodePort":30003}]`: "provided port is not in the valid range. The range of valid ports is 30000-30002",
		`"ports":[{"port":80,"nodePort":29999}]`: "provided port is not in the valid range",
	} {
		if _, refusal := w.create(services, `{"metadata":{"name":"b"},"spec":{"type":"NodePort",`+body+`}}`, false); !strings.Contains(refusal, want) {
			t.Errorf("%s: %s", body, refusal)
		}
	}
	if s := w.must(services, "", service("l", `"type":"LoadBalancer","allocateLoadBalancerNodePorts":false`)); at(s, "spec", "ports").([]any)[0].(map[string]any)["nodePort"] != nil {
		t.Errorf("%v", s["spec"])
	}
	s, refusal := w.create(services, service("dry", `"type":"NodePort"`), true)
	if refusal != "" || at(s, "spec", "ports").([]any)[0].(map[string]any)["nodePort"] != int64(30002) {
		t.Errorf("%v, %s", s, refusal)
	}
	w.must(services, "", service("c", `"type":"LoadBalancer"`))
	if _, refusal := w.create(services, service("d", `"type":"NodePort"`), false); !strings.Contains(refusal, "range is full") {
		t.Error(refusal)
	}
}

// However many services are made at once, no two share an address or a port.
func TestAssignHammer(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() { w.must(services, "", service(fmt.Sprint("s", i), `"type":"NodePort"`)) })
	}
	all.Wait()
	if err := w.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := w.Client.List(t.Context(), services, "")
	if err != nil || len(list) != 40 {
		t.Fatal(len(list), err)
	}
	seen := map[any]bool{}
	for _, s := range list {
		ip := at(s.Object, "spec", "clusterIP")
		port := at(s.Object, "spec", "ports").([]any)[0].(map[string]any)["nodePort"]
		if seen[ip] || seen[port] || ip == nil || port == nil {
			t.Errorf("%v or %v twice", ip, port)
		}
		seen[ip], seen[port] = true, true
	}
}

func TestTheAPIHasAService(t *testing.T) {
	w := newWorld(t, "10.3.0.0/24", Ports{30000, 30100})
	c := NewAPI(w.Client, w.a.config, 7443)
	if c.Name() == "" || len(c.Watches()) != 1 || c.Resync() <= 0 || len(c.Seeds()) != 1 {
		t.Error("it does not follow its service")
	}
	for range 2 {
		for _, key := range append(c.Seeds(), controller.Key{GroupResource: services, Namespace: "default", Name: "other"}) {
			if err := c.Reconcile(t.Context(), nil, key); err != nil {
				t.Fatal(err)
			}
			if err := w.Fresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := w.Client.List(t.Context(), services, "")
	if err != nil || len(all) != 1 || at(all[0].Object, "spec", "clusterIP") != "10.3.0.1" ||
		at(at(all[0].Object, "spec", "ports").([]any)[0].(map[string]any), "targetPort") != int64(7443) {
		t.Errorf("%v, %v", all, err)
	}
}

func TestAddressesOfARange(t *testing.T) {
	for _, tc := range []struct {
		prefix string
		n      uint64
		want   string
	}{{"10.0.0.0/24", 1, "10.0.0.1"}, {"10.0.0.8/16", 258, "10.0.1.2"}, {"fd00::/108", 5, "fd00::5"}} {
		if got := nth(netip.MustParsePrefix(tc.prefix), tc.n).String(); got != tc.want {
			t.Errorf("%s: %s", tc.prefix, got)
		}
	}
}

// What clients may name is given to those who name nothing when nothing else is
// left.
func TestWhatClientsNameIsGivenLast(t *testing.T) {
	w := newWorld(t, "10.0.0.0/27", Ports{30000, 30031})
	last := func(s map[string]any) (address byte, port int64) {
		port, _ = at(s, "spec", "ports").([]any)[0].(map[string]any)["nodePort"].(int64)
		return netip.MustParseAddr(at(s, "spec", "clusterIP").(string)).As4()[3], port - 30000
	}
	for i := range 29 { // of addresses 2 to 30
		address, port := last(w.must(services, "", service(fmt.Sprint("s", i), `"type":"NodePort"`)))
		if early := i < 15; early != (address >= 16) {
			t.Errorf("%d gets address %d", i, address)
		}
		if early := i < 16; early != (port >= 16) {
			t.Errorf("%d gets port %d", i, port)
		}
	}
	for _, c := range []struct{ size, of, most, want uint64 }{{16, 16, 256, 0}, {32, 16, 256, 16}, {1 << 12, 16, 256, 256}, {1 << 16, 16, 256, 256}, {2768, 32, 128, 86}} {
		if got := kept(c.size, c.of, c.most); got != c.want {
			t.Errorf("of %d, %d are kept, want %d", c.size, got, c.want)
		}
	}
}

// Once the cluster's range is full addresses come from the ranges that ServiceCIDRs add,
// of its family, that are ready and stay.
func TestFurtherRanges(t *testing.T) {
	w := newWorld(t, "10.0.0.0/30", Ports{30000, 30100})
	cidr := func(name, cidrs, ready string) {
		made := &unstructured.Unstructured{Object: w.must(serviceCIDRs, "", `{"metadata":{"name":"`+name+`"},"spec":{"cidrs":[`+cidrs+`]}}`)}
		made.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready, "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}}}
		if _, err := w.Client.Update(t.Context(), serviceCIDRs, "status", made); err != nil {
			t.Fatal(err)
		}
	}
	cidr("a", `"fd00::/120"`, "True")
	cidr("same", `"10.0.0.0/30"`, "True")
	cidr("unready", `"10.7.0.0/30"`, "False")
	w.must(serviceCIDRs, "", `{"metadata":{"name":"going","finalizers":["example.com/f"]},"spec":{"cidrs":["10.8.0.0/30"]}}`)
	if err := w.Client.Delete(t.Context(), serviceCIDRs, "", "going", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	w.must(services, "", service("own", `"type":"ClusterIP"`)) // 10.0.0.2
	if _, refusal := w.create(services, service("none", `"type":"ClusterIP"`), false); !strings.Contains(refusal, "range is full") {
		t.Errorf("%q", refusal)
	}
	cidr("b", `"10.9.0.0/30"`, "True")
	w.fresh()
	got := map[string]bool{}
	for _, name := range []string{"one", "two"} {
		got[at(w.must(services, "", service(name, `"type":"ClusterIP"`)), "spec", "clusterIP").(string)] = true
	}
	if !got["10.9.0.1"] || !got["10.9.0.2"] {
		t.Errorf("given are %v", got)
	}
	if _, refusal := w.create(services, service("full", `"type":"ClusterIP"`), false); !strings.Contains(refusal, "range is full") {
		t.Errorf("%q", refusal)
	}
}

// A range that the cluster's is the beginning of has what is behind that, and the
// cluster's own is looked through again when the others are full.
func TestAWiderRange(t *testing.T) {
	w := newWorld(t, "10.0.0.0/30", Ports{30000, 30100})
	w.must(serviceCIDRs, "", `{"metadata":{"name":"wide"},"spec":{"cidrs":["10.0.0.0/29"]}}`)
	w.fresh()
	got := map[string]bool{}
	for i := range 4 {
		got[at(w.must(services, "", service(fmt.Sprint("s", i), `"type":"ClusterIP"`)), "spec", "clusterIP").(string)] = true
	}
	for _, ip := range []string{"10.0.0.2", "10.0.0.4", "10.0.0.5", "10.0.0.6"} {
		if !got[ip] {
			t.Errorf("given are %v", got)
		}
	}
	if err := w.Client.Delete(t.Context(), addresses, "", "10.0.0.2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	if ip := at(w.must(services, "", service("again", `"type":"ClusterIP"`)), "spec", "clusterIP"); ip != "10.0.0.2" {
		t.Errorf("given is %v", ip)
	}
}
