package service

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// The default ServiceCIDR comes to have both ranges, and to be ready.
func TestTheDefaultServiceCIDRWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New(&crd.Definition{Group: serviceCIDRs.Group, Plural: serviceCIDRs.Resource, Kind: "ServiceCIDR", StorageVersion: "v1", KeyPrefix: serviceCIDRs.Resource})
			controllertest.MustCreate(t, o, serviceCIDRs, map[string]any{"metadata": map[string]any{"name": kubernetes}, "spec": map[string]any{"cidrs": []any{"10.0.0.0/24"}}})
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{NewRange(s, Config{Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("fd00::/120")}})}
		},
		Main: controller.Key{GroupResource: serviceCIDRs, Name: kubernetes},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, serviceCIDRs, "", kubernetes)
			status, _, message := controllertest.Condition(obj, "Ready")
			return fmt.Sprint(at(obj.Object, "spec", "cidrs"), " Ready ", status, ": ", message)
		},
		Want: "[10.0.0.0/24 fd00::/120] Ready True: Kubernetes default Service CIDR is ready",
	}.Tell(t)
}

// byEvents is a controller that is not called again from time to time, which would mend
// whatever it misses.
type byEvents struct{ controller.Seeded }

// asking counts what was asked for that there is already.
type asking struct {
	*controllertest.Seat
	refused *int
}

func (a asking) Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	made, err := a.Seat.Create(ctx, gr, obj)
	if apierrors.IsAlreadyExists(err) {
		*a.refused++
	}
	return made, err
}

// The service of the API is there, of whoever made it; no other is made, and who leads
// alone does not ask for what it has made itself: that would take an address first.
func TestTheServiceOfTheAPIWhateverHappens(t *testing.T) {
	leads, refused, another := 0, 0, ""
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			leads, refused, another = 0, 0, ""
			o := keptObjects(t)
			for name, stays := range map[string]time.Duration{kubernetes: 0, "other": time.Minute} {
				having(t, o, name, "10.0.0.1", "")
				remove := func() {
					if err := o.Delete(t.Context(), services, "default", name, metav1.DeleteOptions{}); err != nil {
						t.Error(err)
					}
				}
				if stays == 0 {
					remove()
				} else {
					time.AfterFunc(stays, remove)
				}
			}
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			leads++
			return []controller.Controller{byEvents{NewAPI(asking{s, &refused}, Config{Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}, 6443)}}
		},
		Main: controller.Key{GroupResource: services, Namespace: "default", Name: kubernetes},
		Again: func(t *testing.T, o *controllertest.Objects) {
			another = string(controllertest.MustGet(t, o, services, "default", kubernetes).GetUID())
		},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			all, err := o.List(t.Context(), services, "")
			if err != nil || len(all) != 1 {
				return fmt.Sprintf("%d services, %v", len(all), err)
			}
			if uid := string(all[0].GetUID()); another != "" && uid != another {
				return "what somebody made is gone"
			}
			if leads == 1 && another == "" && refused > 0 {
				return fmt.Sprintf("asked %d times for what is there", refused)
			}
			return fmt.Sprint(all[0].GetNamespace(), "/", all[0].GetName(), " at ", at(all[0].Object, "spec", "clusterIP"))
		},
		Want: "default/kubernetes at 10.0.0.1",
	}.Tell(t)
}

// leaseAt is the lease of a gateway, which it will not have to renew in a story; without an
// address it ran out long ago.
func leaseAt(name, address string) map[string]any {
	tree := map[string]any{"metadata": map[string]any{"namespace": metav1.NamespaceSystem, "name": name, "labels": map[string]any{kinds.IdentityLabel: kinds.IdentityOfServer}}}
	renewed(address)(&unstructured.Unstructured{Object: tree})
	return tree
}

// renewed renews a lease; "" leaves it alone.
func renewed(address string) func(*unstructured.Unstructured) {
	return func(lease *unstructured.Unstructured) {
		if address != "" {
			lease.SetAnnotations(with(lease.GetAnnotations(), reachedAt, address+":6443"))
			lease.Object["spec"] = map[string]any{"renewTime": time.Now().Add(24 * time.Hour).UTC().Format(metav1.RFC3339Micro)}
		}
	}
}

// The endpoints of the API are the gateways that have a lease: also one whose lease ran out
// and was renewed, or made again, while somebody was about to delete it.
func TestEndpointsOfTheAPIWhateverHappens(t *testing.T) {
	leads, again := 0, false
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			leads, again = 0, false
			o := controllertest.New(storedHere()...)
			for _, ns := range []string{"default", "kube-system"} {
				controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree(ns))
			}
			for name, address := range map[string]string{"apiserver-here": "192.0.2.1", "apiserver-old": "", "apiserver-late": ""} {
				controllertest.MustCreate(t, o, leases, leaseAt(name, address))
			}
			o.Hold(leases)
			controllertest.MustChange(t, o, leases, "", metav1.NamespaceSystem, "apiserver-late", renewed("192.0.2.2"))
			go func() { // the cache catches up, but not at once
				for wait := time.Second; controller.Pause(t.Context(), wait); wait *= 2 {
					_ = o.Fresh(t.Context())
				}
			}()
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			if leads++; leads == 2 { // another gateway is one more
				controllertest.MustCreate(t, s.Objects, leases, leaseAt("apiserver-second", "192.0.2.4"))
				_ = s.Objects.Fresh(t.Context())
			}
			return []controller.Controller{byEvents{NewEndpoints(s)}}
		},
		Main: controller.Key{GroupResource: leases, Namespace: metav1.NamespaceSystem, Name: "apiserver-old"},
		Again: func(t *testing.T, o *controllertest.Objects) {
			again = true
			_ = o.Fresh(t.Context())
			controllertest.MustChange(t, o, leases, "", metav1.NamespaceSystem, "apiserver-old", renewed("192.0.2.3"))
			_ = o.Fresh(t.Context())
		},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			if err := o.Fresh(t.Context()); err != nil {
				t.Error(err)
			}
			want := []string{"192.0.2.1", "192.0.2.2"}
			if again {
				want = append(want, "192.0.2.3")
			}
			if leads > 1 {
				want = append(want, "192.0.2.4")
			}
			var told []string
			subsets, _ := controllertest.MustGet(t, o, endpoints, "default", kubernetes).Object["subsets"].([]any)
			for _, a := range at(subsets[0].(map[string]any), "addresses").([]any) {
				told = append(told, a.(map[string]any)["ip"].(string))
			}
			if !slices.Equal(told, want) {
				return fmt.Sprintf("the Endpoints are %q, not %q", told, want)
			}
			if slice := fmt.Sprint(at(controllertest.MustGet(t, o, parts, "default", kubernetes).Object, "endpoints")); strings.Count(slice, "192.0.2.") != len(want) {
				return "the slice has " + slice
			}
			if controllertest.Gone(o, leases, metav1.NamespaceSystem, "apiserver-old") == again {
				return "the lease that ran out is there, or was made again and is gone"
			}
			return "all gateways and no other"
		},
		Want: "all gateways and no other",
	}.Tell(t)
}
