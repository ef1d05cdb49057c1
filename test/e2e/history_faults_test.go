package e2e

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	// histCalm is how long everything works between two faults.
	histCalm = 500 * time.Millisecond
	// histLease is longer than the lease of the gateway that leads.
	histLease = 12 * time.Second
	// histLong is how long a round must be to have faults of that length.
	histLong = 45 * time.Second
)

// histWorld is what histories are about: gateways, each with a link to the one
// etcd, which is that of a gateway that no client uses.
type histWorld struct {
	gateways []*harness.Gateway
	links    []*harness.Link
	etcd     *harness.Gateway
	rnd      *rand.Rand
}

// histFaults are what befalls it, by name. Each is over when it returns.
var histFaults = []struct {
	name string
	call func(w *histWorld, t *testing.T, spell time.Duration)
}{
	{"gateway killed", func(w *histWorld, t *testing.T, _ time.Duration) {
		g := w.gateways[w.rnd.IntN(len(w.gateways))]
		g.Kill(t)
		g.Restart(t)
	}},
	{"etcd killed", func(w *histWorld, t *testing.T, _ time.Duration) { w.etcd.Kill(t); w.etcd.Restart(t) }},
	{"gateway and etcd killed", func(w *histWorld, t *testing.T, _ time.Duration) {
		g := w.gateways[w.rnd.IntN(len(w.gateways))]
		g.Kill(t)
		w.etcd.Kill(t)
		w.etcd.Restart(t) // first, as nobody starts without it
		g.Restart(t)
	}},
	{"gateway stopped", func(w *histWorld, t *testing.T, spell time.Duration) {
		g := w.gateways[w.rnd.IntN(len(w.gateways))]
		g.Signal(t, syscall.SIGSTOP)
		lasts(spell)
		g.Signal(t, syscall.SIGCONT)
	}},
	{"gateway stopped, etcd killed", func(w *histWorld, t *testing.T, spell time.Duration) {
		g := w.gateways[w.rnd.IntN(len(w.gateways))]
		g.Signal(t, syscall.SIGSTOP)
		w.etcd.Kill(t)
		w.etcd.Restart(t)
		lasts(spell)
		g.Signal(t, syscall.SIGCONT)
	}},
	{"etcd stopped", func(w *histWorld, t *testing.T, spell time.Duration) {
		w.etcd.Signal(t, syscall.SIGSTOP)
		lasts(min(spell, 3*time.Second))
		w.etcd.Signal(t, syscall.SIGCONT)
	}},
	{"cut off", func(w *histWorld, _ *testing.T, spell time.Duration) {
		l := w.links[w.rnd.IntN(len(w.links))]
		l.Cut()
		lasts(spell)
		l.Mend()
	}},
	{"held up", func(w *histWorld, _ *testing.T, spell time.Duration) {
		l := w.links[w.rnd.IntN(len(w.links))]
		l.Hold()
		lasts(spell)
		l.Mend()
	}},
}

func lasts(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// disturb has one fault after the other, in changing orders, until the round is
// over and each was there. In a long round each first lasts longer than the
// lease of a gateway that leads. It returns how often there was which.
func (w *histWorld) disturb(t *testing.T, round time.Duration) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for end := time.Now().Add(round); ; {
		for _, i := range w.rnd.Perm(len(histFaults)) {
			lasts(histCalm)
			if time.Now().After(end) && len(counts) == len(histFaults) {
				return counts
			}
			f := histFaults[i]
			spell := time.Duration(200+w.rnd.IntN(1300)) * time.Millisecond
			if round >= histLong && f.name == "gateway stopped" && counts[f.name] == 0 {
				spell = histLease
			}
			f.call(w, t, spell)
			counts[f.name]++
		}
	}
}
