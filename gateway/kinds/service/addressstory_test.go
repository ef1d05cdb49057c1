package service

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

// having makes a service with an address, and the IPAddress of another one, "" for none.
func having(t *testing.T, o *controllertest.Objects, service, ip, of string) {
	t.Helper()
	if of != "" {
		controllertest.MustCreate(t, o, addresses, addressOf(netip.MustParseAddr(ip), "default", of).Object)
	}
	if service != "" {
		controllertest.MustCreate(t, o, services, map[string]any{"metadata": map[string]any{"namespace": "default", "name": service}, "spec": map[string]any{"clusterIP": ip}})
	}
}

// madeAgain is an IPAddress that was made again for another service.
type madeAgain struct{ uid types.UID }

func (m *madeAgain) make(t *testing.T, o *controllertest.Objects, ip string) {
	m.uid = controllertest.MustGet(t, o, addresses, "", ip).GetUID()
	having(t, o, "again", ip, "")
}

// known are the IPAddresses in the end but the one of ip if that was made again, which has
// to be the same.
func (m *madeAgain) known(t *testing.T, o *controllertest.Objects, ip string) string {
	if err := o.Fresh(t.Context()); err != nil {
		t.Error(err)
	}
	all, err := o.List(t.Context(), addresses, "")
	if err != nil {
		t.Error(err)
	}
	var names []string
	for _, a := range all {
		if m.uid != "" && a.GetName() == ip && a.GetUID() == m.uid {
			m.uid = ""
			continue
		}
		names = append(names, a.GetName())
	}
	if m.uid != "" {
		return fmt.Sprintf("the address of the new service was given back, left are %v", names)
	}
	return strings.Join(names, " ")
}

// Every address of a service is known, and what is left of one that is gone goes, whatever
// happens: neither that of a service of which the cache does not know yet, nor one that
// another service has got since.
func TestTheLedgerWhateverHappens(t *testing.T) {
	const left = "10.0.0.12"
	var again madeAgain
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			again = madeAgain{}
			o := keptObjects(t)
			having(t, o, "one", "10.0.0.10", "one")
			having(t, o, "unknown", "10.0.0.11", "")
			having(t, o, "", left, "gone")
			having(t, o, "", "10.0.0.13", "late")
			others := addressOf(netip.MustParseAddr("10.0.0.14"), "default", "gone")
			others.SetLabels(nil)
			controllertest.MustCreate(t, o, addresses, others.Object)
			o.Hold(services)
			having(t, o, "late", "10.0.0.13", "")
			return o
		},
		Lead:    func(s *controllertest.Seat) []controller.Controller { return []controller.Controller{NewLedger(s)} },
		Main:    controller.Key{GroupResource: addresses, Name: left},
		Again:   func(t *testing.T, o *controllertest.Objects) { again.make(t, o, left) },
		Outcome: func(t *testing.T, o *controllertest.Objects) string { return again.known(t, o, left) },
		Want:    "10.0.0.10 10.0.0.11 10.0.0.13 10.0.0.14",
	}.Tell(t)
}

// The address of a service that goes is given back, but not one that another service has got
// since. A gateway that is lost has seen what the next one has not, who leaves it to the ledger;
// the first one has none in this story, so that all is its own doing.
func TestReleaseWhateverHappens(t *testing.T) {
	const given = "10.0.0.10"
	var again madeAgain
	leads := 0
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			again, leads = madeAgain{}, 0
			o := keptObjects(t)
			having(t, o, "stays", "10.0.0.11", "stays")
			o.Hold(addresses) // whose events may be behind those of services
			having(t, o, "goes", given, "goes")
			time.AfterFunc(time.Minute, func() { // after it was seen
				if err := o.Delete(t.Context(), services, "default", "goes", metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			})
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			all := []controller.Controller{NewRelease(s)}
			if leads++; leads > 1 {
				all = append(all, NewLedger(s))
			}
			return all
		},
		Main: controller.Key{GroupResource: addresses, Name: given},
		Again: func(t *testing.T, o *controllertest.Objects) {
			if err := o.Fresh(t.Context()); err != nil {
				t.Error(err)
			}
			again.make(t, o, given)
		},
		Outcome: func(t *testing.T, o *controllertest.Objects) string { return again.known(t, o, given) },
		Want:    "10.0.0.11",
	}.Tell(t)
}
