package flow

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// Described is a request that can tell what it is about while it is being answered, to
// anybody.
type Described interface{ Describe() authz.Attributes }

// tally is what became of the requests of one schema at one level, whose lock guards it.
type tally struct{ metrics.Flow }

// tallyOf is that of a schema.
func (l *level) tallyOf(schema string) *tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tallies[schema]
	if t == nil {
		t = &tally{metrics.Flow{Schema: schema, Rejected: map[string]uint64{}}}
		l.tallies[schema] = t
	}
	return t
}

// forget drops the tallies of schemas that are not there any more.
func (l *level) forget(isThere func(schema string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.tallies, func(schema string, t *tally) bool {
		return !isThere(schema) && t.Waiting+t.Executing+t.Seats == 0
	})
}

// arrive counts a request that came, and would be so long a queue's last.
func (t *tally) arrive(w *Work, queued bool, length int) {
	t.Estimated.Observe(metrics.FlowSeats, float64(w.Seats))
	if queued {
		t.Length.Observe(metrics.FlowLengths, float64(length))
	}
	if w.Writes {
		t.Watches.Observe(metrics.FlowWatches, float64(w.Watches))
	}
}

func (t *tally) refuse(r Refusal) Refusal {
	t.Rejected[string(r)]++
	return r
}

// queue counts a request that waits, or with -1 one that does not any more.
func (t *tally) queue(s *Seat, n int) {
	t.Waiting += n
	t.WaitingSeats += n * s.seats
}

// begin counts a request that has its seats.
func (t *tally) begin(s *Seat) {
	t.Dispatched++
	t.Executing++
	t.Seats += s.seats
	if s.queue != nil {
		t.Waited[1].Since(s.arrived, s.began)
	}
}

// ended counts a request that is over; its seats may not be.
func (t *tally) ended(s *Seat, now time.Time) {
	t.Executing--
	kind := 0
	if s.work.Watch {
		kind = 1
	}
	t.Executed[kind].Since(s.began, now)
}

// Report is what flow control does at this moment.
func (c *Control) Report() metrics.FlowControl {
	c.changing.Lock()
	defer c.changing.Unlock()
	out := metrics.FlowControl{Fair: c.fair}
	for _, l := range c.inOrder() {
		out.Levels = append(out.Levels, l.report())
	}
	return out
}

// inOrder are the levels by name.
func (c *Control) inOrder() []*level {
	return slices.SortedFunc(maps.Values(c.levels), func(a, b *level) int { return cmp.Compare(a.name, b.name) })
}

func (l *level) report() metrics.Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := metrics.Level{Name: l.name, Limit: l.limit, Nominal: l.nominal, Min: l.min, Max: l.max, R: l.clock.r, Target: l.target, Smoothed: l.demand.smoothed}
	out.High, out.Average, out.Deviation = l.demand.last.high, l.demand.last.mean, l.demand.last.deviation
	for _, t := range l.tallies {
		f := t.Flow
		f.Rejected = maps.Clone(f.Rejected)
		out.Flows = append(out.Flows, f)
	}
	return out
}
