package server

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
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

// A flag may give etcd more time than other checks have, and less.
func TestEtcdHasTheTimeOfItsFlags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := servingIn("nowhere")
		o.EtcdHealthcheckTimeout, o.EtcdReadycheckTimeout = 10*time.Second, time.Second
		g := newGateway(o, zerolog.Nop())
		g.store = slow{takes: 5 * time.Second}
		r := g.newHealth()
		for endpoint, check := range map[health.Endpoint]string{health.Livez: "etcd", health.Readyz: "etcd-readiness"} {
			if code, _ := r.Single(t.Context(), endpoint, check); (code == 200) != (endpoint == health.Livez) {
				t.Errorf("%s is %d for %s", check, code, endpoint)
			}
		}
		synctest.Wait()
	})
}

// A request that gives its probe no time says nothing to others about etcd.
func TestAProbeWithoutTimeChangesNothing_HLT04(t *testing.T) {
	g := newGateway(servingIn(t.TempDir()), zerolog.Nop())
	g.store = slow{}
	r := g.newHealth()
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for range 20 {
		r.Report(over, health.Livez, false, nil)
		if code, body := r.Single(t.Context(), health.Livez, "etcd"); code != 200 {
			t.Fatalf("%d %s", code, body)
		}
	}
}

// slow is a store that answers after a time.
type slow struct {
	storagebackend.Store
	takes time.Duration
}

func (s slow) Healthy(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-time.After(s.takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// nowhere is a store that nobody asks.
type nowhere struct{ storagebackend.Store }
