package apiservice

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Each version of a group comes to its APIService, one that nobody serves goes, and
// somebody's own stays.
func TestRegistrationWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := world()
			controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1beta1", "v1"))
			service(t, o, "v0.example.com", always, map[string]any{"group": "example.com", "version": "v0"})
			service(t, o, "v2.example.com", "", map[string]any{"group": "example.com", "version": "v2"})
			service(t, o, "v1.example.com", always, map[string]any{"group": "example.com", "version": "v1", "versionPriority": int64(7)})
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{NewRegistration(s)}
		},
		Main:    controller.Key{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition},
		Outcome: func(t *testing.T, o *controllertest.Objects) string { return strings.Join(said(t, o), "\n") },
		Want: strings.Join([]string{
			"v1.example.com true example.com/v1 1000 100", "v1beta1.example.com true example.com/v1beta1 1000 100", "v2.example.com  example.com/v2 <nil> <nil>",
		}, "\n"),
	}.Tell(t)
}
