package builtin

import (
	"testing"

	"k8s.io/apiserver/pkg/registry/rest"
)

// What may become of stored objects, and through which subresource. The messages
// are kube-apiserver 1.36's.
func TestWhatUpdatesMayChange_UPD02(t *testing.T) {
	const (
		service     = `{"metadata":{"name":"x"},"spec":{"ports":[{"port":1}],"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`
		plain       = `{"metadata":{"name":"x"},"spec":{"ports":[{"port":1}],"type":"ClusterIP"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`
		pod         = `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","terminationMessagePolicy":"File","imagePullPolicy":"Always","resources":{"claims":[{"name":"gpu"}],"limits":{"example.com/a":"1"}}}],"resourceClaims":[{"name":"gpu","resourceClaimName":"g"}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst"},"status":{"containerStatuses":[{"name":"c"`
		twoFamilies = `spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`
	)
	cidrs := func(list string) string { return `{"metadata":{"name":"x"},"spec":{"cidrs":[` + list + `]}}` }
	defs := definitions(t)
	for name, tc := range map[string]struct{ kind, sub, old, body, want string }{
		"service with an ingress, of another type": {"service", "", service, plain, ``},
		"ingress of a service that has none":       {"service", "status", plain, plain, "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"},
		"health of a claim": {"pod", "status", pod + `}]}}`,
			pod + `,"allocatedResourcesStatus":[{"name":"claim:gpu","resources":[{"resourceID":"a","health":"Healthy"}]},{"name":"example.com/a"}]}]}}`, ``},
		"health of nothing": {"pod", "status", pod + `}]}}`,
			pod + `,"allocatedResourcesStatus":[{"resources":[{"resourceID":"a","health":"Healthy"}]}]}]}}`, `status.containerStatuses[0].allocatedResourcesStatus[0].name: Required value`},
		"second range of the other family": {"servicecidr", "", cidrs(`"10.0.0.0/16"`), cidrs(`"10.0.0.0/16","2001:db8::/64"`), ``},
		"second range of the same family":  {"servicecidr", "", cidrs(`"10.0.0.0/16"`), cidrs(`"10.0.0.0/16","10.1.0.0/16"`), twoFamilies},
		"another first range":              {"servicecidr", "", cidrs(`"10.0.0.0/16"`), cidrs(`"10.1.0.0/16","2001:db8::/64"`), `spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable`},
		"another range":                    {"servicecidr", "", cidrs(`"10.0.0.0/16"`), cidrs(`"10.1.0.0/16"`), `spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable`},
		"another second range":             {"servicecidr", "", cidrs(`"10.0.0.0/16","2001:db8::/64"`), cidrs(`"10.0.0.0/16","2001:db9::/64"`), `spec.cidrs[1]: Invalid value: "2001:db9::/64": field is immutable`},
		"a range less":                     {"servicecidr", "", cidrs(`"10.0.0.0/16","2001:db8::/64"`), cidrs(`"10.0.0.0/16"`), `spec.cidrs: Invalid value: ["10.0.0.0/16"]: field is immutable`},
	} {
		t.Run(name, func(t *testing.T) {
			d := defs[tc.kind]
			old, obj := shaped(t, d, tc.old), shaped(t, d, tc.body)
			old.SetUID("u")
			for _, o := range []interface{ SetResourceVersion(string) }{old, obj} {
				o.SetResourceVersion("7")
			}
			if d.Namespaced {
				old.SetNamespace("bi-ns")
				obj.SetNamespace("bi-ns")
			}
			obj.SetUID("u")
			update := rest.RESTUpdateStrategy(d.Versions[0].Strategy)
			if tc.sub != "" {
				update = d.Versions[0].Subresources[tc.sub].Update
			}
			err := rest.BeforeUpdate(update, writeContext(d), obj, old)
			if got := message(err); got != tc.want || (err == nil) != (tc.want == "") {
				t.Errorf("got  %v (%v)\nwant %v", got, err, tc.want)
			}
		})
	}
}

func TestRangesOfServicesAreOfTwoFamilies(t *testing.T) {
	d := definitions(t)["servicecidr"]
	for list, want := range map[string]string{
		`"10.0.0.0/16","2001:db8::/64"`: ``,
		`"10.0.0.0/16","10.1.0.0/16"`:   `spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`,
	} {
		if got := message(creation(t, d, `{"metadata":{"name":"x"},"spec":{"cidrs":[`+list+`]}}`)); got != want {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}
