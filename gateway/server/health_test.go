package server

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/server/storagebackend"
)

// Liveness waits for each step of the start as long as --livez-grace-period says, and
// readiness for none.
func TestLivenessWaitsForTheStartAsLongAsItIsTold_HLT05(t *testing.T) {
	o := servingIn(t.TempDir())
	for grace, fails := range map[time.Duration]bool{0: true, time.Hour: false} {
		o.LivezGracePeriod = grace
		g := newGateway(o, zerolog.Nop())
		g.store = nowhere{}
		g.served.Starts = []kinds.Start{{Name: "step"}}
		r := g.newHealth()
		for _, check := range []string{"poststarthook/load-objects", "poststarthook/step"} {
			if code, body := r.Single(t.Context(), health.Livez, check); (code != 200) != fails {
				t.Errorf("after %v %s is %d for liveness: %s", grace, check, code, body)
			}
			if code, body := r.Single(t.Context(), health.Readyz, check); code == 200 || strings.Contains(body, "ok") {
				t.Errorf("%s is %d for readiness: %s", check, code, body)
			}
		}
	}
}

// nowhere is a store that nobody asks.
type nowhere struct{ storagebackend.Store }
