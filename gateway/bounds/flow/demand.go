package flow

import (
	"math"
	"time"
)

// demand is how many seats were wanted, since it was last asked.
type demand struct {
	at               time.Time
	highest          int
	time, sum, power float64 // seconds, and seats and their squares times these
	smoothed         float64
	// last is what was wanted before it was last asked.
	last struct{ high, mean, deviation float64 }
}

// advance goes on to now: so many were wanted.
func (d *demand) advance(now time.Time, seats int) {
	s := now.Sub(d.at).Seconds()
	d.at = now
	d.time += s
	d.sum += s * float64(seats)
	d.power += s * float64(seats) * float64(seats)
	d.reach(seats)
}

// reach notes that so many are wanted.
func (d *demand) reach(seats int) { d.highest = max(d.highest, seats) }

// reset smooths what was wanted, and begins again.
func (d *demand) reset(now int) {
	if d.time > 0 {
		mean := d.sum / d.time
		deviation := math.Sqrt(max(0, d.power/d.time-mean*mean))
		d.last.high, d.last.mean, d.last.deviation = float64(d.highest), mean, deviation
		envelope := mean + deviation
		d.smoothed = math.Max(envelope, smoothing*d.smoothed+(1-smoothing)*envelope)
	}
	d.highest, d.time, d.sum, d.power = now, 0, 0, 0
}

// need is what a level wants of the seats of all.
type need struct {
	exempt                     bool
	min, nominal, max, highest int
	smoothed                   float64
}

func (l *level) needed() need {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(time.Now())
	n := need{exempt: l.exempt, min: l.min, nominal: l.nominal, max: l.max, highest: l.demand.highest}
	l.demand.reset(l.seats + l.wanted)
	n.smoothed = l.demand.smoothed
	return n
}
