package api

import "testing"

// fallen panics in place of counting, once it is down.
type fallen struct {
	Observer
	down *bool
}

func (f fallen) Begin(i *Info, dryRun bool) func(Outcome) {
	if *f.down {
		panic("no metrics")
	}
	return f.Observer.Begin(i, dryRun)
}

// heard is an auditor that keeps what it is told last.
type heard struct {
	audits
	last *Audit
}

func (h *heard) Audit(a *Audit) bool { h.last = a; return true }

// A request that nobody can count is answered, in a form that the client takes, and
// recorded.
func TestAPanicOfWhatCountsIsAStatusAndRecorded(t *testing.T) {
	auditor, down := &heard{}, false
	w := newWorld(t, func(c *Setup) { c.Observer, c.Auditor = fallen{c.Observer, &down}, auditor })
	down = true
	w.do("GET", configMaps, "", "Accept: application/yaml").want(500, "reason: InternalError")
	if a := auditor.last; a.Code != 500 || len(a.Status) == 0 {
		t.Errorf("%+v", a)
	}
}
