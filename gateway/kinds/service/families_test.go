package service

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds"
)

// familiesOf is what a service says of its addresses and families.
func familiesOf(s map[string]any) string {
	return fmt.Sprintf("%v%v%v", at(s, "spec", "ipFamilyPolicy"), at(s, "spec", "ipFamilies"), at(s, "spec", "clusterIPs"))
}

// New services get the addresses that a kube-apiserver 1.36.3 with the same flag gave them,
// or are refused in its words.
func TestServicesOfTwoFamilies(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24,fd00::/112", Ports{30000, 30009})
	for spec, want := range map[string]string{
		`"ipFamilyPolicy":"SingleStack"`:                                             "SingleStack[IPv4][10.",
		`"ipFamilies":["IPv6"]`:                                                      "SingleStack[IPv6][fd00::",
		`"ipFamilyPolicy":"PreferDualStack"`:                                         "PreferDualStack[IPv4 IPv6][10.",
		`"ipFamilyPolicy":"RequireDualStack","ipFamilies":["IPv6"]`:                  "RequireDualStack[IPv6 IPv4][fd00::",
		`"ipFamilyPolicy":"PreferDualStack","clusterIP":"fd00::77"`:                  "PreferDualStack[IPv6 IPv4][fd00::77 10.",
		`"clusterIP":"None","ipFamilies":["IPv6"]`:                                   "RequireDualStack[IPv6 IPv4][None]",
		`"clusterIP":"None","selector":{"a":"b"}`:                                    "SingleStack[IPv4][None]",
		`"clusterIP":"None","selector":{"a":"b"},"ipFamilyPolicy":"PreferDualStack"`: "PreferDualStack[IPv4 IPv6][None]",
		`"clusterIP":"fd00::7","clusterIPs":["fd00::7","10.0.0.7"]`:                  "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified",
		`"ipFamilies":["IPv4","IPv6"]`:                                               "when multiple IP families are specified",
		`"clusterIP":"fd00::7","ipFamilies":["IPv4"]`:                                "spec.clusterIPs[0]: Invalid value: \"fd00::7\": expected an IPv4 value as indicated by `ipFamilies[0]`",
		`"clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7","fd00::7"],"ipFamilies":["IPv4","IPv4"],"ipFamilyPolicy":"PreferDualStack"`: "spec.clusterIPs[1]: Invalid value: \"fd00::7\": expected an IPv4 value as indicated by `ipFamilies[1]`",
		`"clusterIP":"fd01::7","ipFamilyPolicy":"PreferDualStack"`:                                                                   `spec.clusterIPs: Invalid value: ["fd01::7",""]: failed to allocate IP fd01::7: the provided network does not match the current range`,
		`"ipFamilies":["X"],"clusterIP":"10.0.0.7"`:                                                                                  `spec.ipFamilies[0]: Unsupported value: "X"`,
		`"type":"ExternalName","externalName":"a.b","ipFamilyPolicy":"RequireDualStack"`:                                             "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services",
	} {
		s, refusal := w.create(services, service("s", spec), true)
		got := familiesOf(s)
		if refusal != "" {
			got = refusal
		}
		if !strings.Contains(got, want) || refusal != "" && strings.Count(refusal, "spec.") > 2 {
			t.Errorf("%s: %s", spec, got)
		}
	}
	six := newWorld(t, "fd00::/112,10.0.0.0/24", Ports{30000, 30009})
	if got := familiesOf(six.must(services, "", service("s", `"ipFamilyPolicy":"PreferDualStack"`))); !strings.HasPrefix(got, "PreferDualStack[IPv6 IPv4][fd00::") {
		t.Errorf("where IPv6 is the first: %s", got)
	}
}

// A service gets a second address and loses it, as its policy says; the first one stays.
func TestTheSecondAddressComesAndGoes(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24,fd00::/112", Ports{30000, 30009})
	r := NewRelease(w.Client)
	w.must(services, "", service("s", `"clusterIP":"10.0.0.7"`))
	w.fresh()
	for _, c := range []struct{ spec, want string }{
		{`"clusterIPs":["10.0.0.7","fd00::7"],"ipFamilyPolicy":"PreferDualStack"`, "PreferDualStack[IPv4 IPv6][10.0.0.7 fd00::7]"},
		{`"type":"ClusterIP"`, "PreferDualStack[IPv4 IPv6][10.0.0.7 fd00::7]"},
		{`"clusterIPs":["10.0.0.7"]`, "must be 'SingleStack' to release the secondary cluster IP"},
		{`"ipFamilies":["IPv4"]`, "must be 'SingleStack' to release the secondary IP family"},
		{`"clusterIPs":["10.0.0.7","fd00::8"]`, `spec.clusterIPs[1]: Invalid value: ["10.0.0.7","fd00::8"]: may not change once set`},
		{`"clusterIP":"10.0.0.8","clusterIPs":["10.0.0.8"],"ipFamilyPolicy":"SingleStack"`, `spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set`},
		{`"ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4","IPv6"],"clusterIPs":["10.0.0.7","fd00::7"]`, "SingleStack[IPv4][10.0.0.7]"},
		{`"ipFamilyPolicy":"RequireDualStack","clusterIPs":["10.0.0.7","fd00::9"]`, "RequireDualStack[IPv4 IPv6][10.0.0.7 fd00::9]"},
		{`"ipFamilyPolicy":"SingleStack","clusterIPs":["10.0.0.7","fd00::8"]`, "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified"},
		{`"ipFamilyPolicy":"SingleStack","clusterIPs":["10.0.0.7","fd00::9"],"ipFamilies":["IPv4"]`, "SingleStack[IPv4][10.0.0.7]"},
		{`"clusterIP":"None"`, `spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set`},
		{`"ipFamilies":["IPv6"]`, "expected an IPv6 value as indicated by `ipFamilies[0]`"},
	} {
		s, refusal := w.write(services, "s", service("s", c.spec), false)
		if got := refusal + strings.TrimPrefix(familiesOf(s), "<nil><nil><nil>"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.spec, got)
		}
		w.fresh()
		if err := r.Reconcile(t.Context(), nil, controller.Key{GroupResource: services, Namespace: "default", Name: "s"}); err != nil {
			t.Fatal(err)
		}
		w.fresh()
		now, err := w.Client.Get(t.Context(), services, "default", "s")
		if err != nil {
			t.Fatal(err)
		}
		all, err := w.Client.List(t.Context(), addresses, "")
		if want, _ := at(now.Object, "spec", "clusterIPs").([]any); err != nil || len(all) != len(want) {
			t.Errorf("after %s: %d addresses are taken for %v, %v", c.spec, len(all), want, err)
		}
	}
}

// Who prefers two addresses keeps the one that was to be had, until it asks for another.
func TestOneAddressStays(t *testing.T) {
	before := newWorld(t, "10.0.0.0/24", Ports{30000, 30009})
	s := before.must(services, "", service("s", `"ipFamilyPolicy":"PreferDualStack","clusterIP":"10.0.0.7"`))
	if got := familiesOf(s); got != "PreferDualStack[IPv4][10.0.0.7]" {
		t.Fatal(got)
	}
	before.must(services, "", service("old", `"clusterIP":"10.0.0.8"`))
	w := newGateway(t, before.store, "10.0.0.0/24,fd00::/112", Ports{30000, 30009})
	w.fresh()
	same := service("s", `"type":"ClusterIP","ipFamilyPolicy":"PreferDualStack","clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"],"ipFamilies":["IPv4"],"selector":{"a":"b"}`)
	if got := familiesOf(w.must(services, "s", same)); got != "PreferDualStack[IPv4][10.0.0.7]" {
		t.Errorf("after something else was written: %s", got)
	}
	more := strings.Replace(same, `"ipFamilies":["IPv4"]`, `"ipFamilies":["IPv4","IPv6"]`, 1)
	if got := familiesOf(w.must(services, "s", more)); !strings.HasPrefix(got, "PreferDualStack[IPv4 IPv6][10.0.0.7 fd00::") {
		t.Errorf("after it asked: %s", got)
	}
	was := w.a.asRead(map[string]any{"clusterIP": "10.0.0.8"})
	if got := familiesOf(map[string]any{"spec": was}); got != "SingleStack[IPv4][10.0.0.8]" {
		t.Errorf("as it was stored before there were families: %s", got)
	}
}

// No way leads to an address that is another service's: not by way of a name, which may say
// any address, nor from what was stored before there were several.
func TestAddressesOfOthersStayTheirs(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30009})
	w.must(services, "", service("other", `"clusterIP":"10.0.0.9"`))
	w.must(services, "", service("s", `"clusterIP":"10.0.0.5"`))
	old := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"old","namespace":"default","uid":"u"},"spec":{"type":"ClusterIP","clusterIP":"10.0.0.6","ports":[{"port":1,"protocol":"TCP","targetPort":1}],"sessionAffinity":"None"}}`
	if _, err := w.store.Create(t.Context(), "/registry/services/specs/default/old", []byte(old), 0); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	if err := accounted(kinds.Config{}, w.Client).Run(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	if _, refusal := w.create(services, service("t", `"clusterIP":"10.0.0.6"`), false); !strings.Contains(refusal, "provided IP is already allocated") {
		t.Errorf("the address of a service that was stored long ago: %s", refusal)
	}
	for _, c := range []struct{ name, spec, want string }{
		{"s", `"type":"ExternalName","externalName":"a.b","clusterIP":"9.9.9.9"`, ""},
		{"s", `"type":"ClusterIP","clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"]`, "provided IP is already allocated"},
		{"s", `"type":"ClusterIP","clusterIP":"8.8.8.8","clusterIPs":["8.8.8.8"]`, "does not match the current range"},
		{"s", `"type":"ClusterIP"`, ""},
		{"old", `"clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"]`, "may not change once set"},
		{"old", `"clusterIP":"10.0.0.9"`, "may not change once set"},
		{"old", `"clusterIP":"10.0.0.6"`, ""},
	} {
		s, refusal := w.write(services, c.name, service(c.name, c.spec), false)
		if (refusal == "") != (c.want == "") || !strings.Contains(refusal, c.want) {
			t.Errorf("%s %s: %s", c.name, c.spec, refusal)
		}
		if w.fresh(); c.spec == `"type":"ClusterIP"` {
			ip := fmt.Sprint(at(s, "spec", "clusterIP"))
			if _, err := w.Client.Get(t.Context(), addresses, "", ip); err != nil || !strings.HasPrefix(ip, "10.0.0.") {
				t.Errorf("it got %q: %v", ip, err)
			}
		}
	}
}

// The default ServiceCIDR gets the second range once there is one, and is left alone by
// who has other ranges.
func TestTheDefaultRangeGetsASecondFamily(t *testing.T) {
	f := keptObjects(t)
	both := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("fd00::/112")}
	for _, c := range []struct {
		ranges []netip.Prefix
		want   []any
	}{
		{both[:1], []any{"10.0.0.0/24"}}, {both[1:], []any{"10.0.0.0/24"}}, {both, []any{"10.0.0.0/24", "fd00::/112"}}, {both[:1], []any{"10.0.0.0/24", "fd00::/112"}},
	} {
		r := NewRange(f, Config{Addresses: c.ranges})
		if err := r.Reconcile(t.Context(), nil, r.Seeds()[0]); err != nil {
			t.Fatal(err)
		}
		if got := at(controllertest.MustGet(t, f, serviceCIDRs, "", kubernetes).Object, "spec", "cidrs"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("by one that has %v: %v, want %v", c.ranges, got, c.want)
		}
	}
}
