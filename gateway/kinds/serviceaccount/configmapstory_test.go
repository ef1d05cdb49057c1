package serviceaccount

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Every namespace is told the authorities of all gateways, and of one that began anew those
// that it has now.
func TestAuthoritiesWhateverHappens(t *testing.T) {
	own, first, second := authority(t), authority(t), authority(t)
	wanted := first
	says := func(pem []byte) func(*unstructured.Unstructured) {
		return func(lease *unstructured.Unstructured) {
			lease.SetAnnotations(map[string]string{kinds.AuthoritiesKey: string(pem)})
		}
	}
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			wanted = first
			o := controllertest.New()
			for _, name := range []string{"kube-system", "one"} {
				controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree(name))
			}
			lease := controllertest.ObjectTree("kube-system", "other")
			lease["metadata"].(map[string]any)["labels"] = map[string]any{kinds.IdentityLabel: kinds.IdentityOfServer}
			says(first)(&unstructured.Unstructured{Object: lease})
			controllertest.MustCreate(t, o, leases, lease)
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{NewAuthorities(s, own)}
		},
		Main: controller.Key{GroupResource: leases, Namespace: "kube-system", Name: "other"},
		Again: func(t *testing.T, o *controllertest.Objects) {
			wanted = second
			controllertest.MustChange(t, o, leases, "", "kube-system", "other", says(second))
		},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			for _, namespace := range []string{"kube-system", "one"} {
				data, _, _ := unstructured.NestedString(controllertest.MustGet(t, o, configMaps, namespace, rootCA).Object, "data", "ca.crt")
				if !strings.Contains(data, strings.TrimSpace(string(own))) || !strings.Contains(data, strings.TrimSpace(string(wanted))) || strings.Count(data, "BEGIN CERTIFICATE") != 2 {
					return "in " + namespace + " is told " + data
				}
			}
			return "both everywhere"
		},
		Want: "both everywhere",
	}.Tell(t)
}

// It is noted since when uses are, once, beside what somebody else wrote there.
func TestTrackingWhateverHappens(t *testing.T) {
	for name, there := range map[string]bool{"nothing is there": false, "it says nothing": true} {
		t.Run(name, func(t *testing.T) {
			controllertest.Story{
				World: func(t *testing.T) *controllertest.Objects {
					o := controllertest.New()
					controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree(tracked.Namespace))
					tree := controllertest.ObjectTree(tracked.Namespace, tracked.Name)
					tree["data"] = map[string]any{"more": "kept"}
					controllertest.MustCreate(t, o, configMaps, tree) // which is what is made again, too
					if !there {
						if err := o.Delete(t.Context(), configMaps, tracked.Namespace, tracked.Name, metav1.DeleteOptions{}); err != nil {
							t.Fatal(err)
						}
					}
					return o
				},
				Lead: func(s *controllertest.Seat) []controller.Controller {
					return []controller.Controller{NewTracking(s)}
				},
				Main: tracked,
				Outcome: func(t *testing.T, o *controllertest.Objects) string {
					data, _, _ := unstructured.NestedStringMap(controllertest.MustGet(t, o, configMaps, tracked.Namespace, tracked.Name).Object, "data")
					if there && data["more"] != "kept" {
						return "what somebody wrote is gone"
					}
					return fmt.Sprint("since the day: ", data[trackingSince] == day(time.Now()))
				},
				Want: "since the day: true",
			}.Tell(t)
		})
	}
}
