package flow

import (
	"math"
	"time"
)

// Work is what a request is thought to take: seats, also for a while after it has ended,
// as a write goes on in the watches that it is sent to.
type Work struct {
	Seats int
	After time.Duration
	// Wait is how long it may wait; 0 means for ever.
	Wait time.Duration
	// Watch tells a watch from all others, Writes a write that so many Watches are
	// told of.
	Watch, Writes bool
	Watches       int
	// Of is the request, to be described; nil where nobody knows.
	Of Described
}

// What kube-apiserver counts with.
const (
	// mostSeats is the most that one request takes.
	mostSeats = 10
	// bytesPerSeat is how much of a list is worth a seat.
	bytesPerSeat = 100_000
	// watchesPerSeat are how many watches are worth a seat, for eventTime, when they
	// are sent an event; fewer are worth nothing.
	watchesPerSeat = 10
	eventTime      = 5 * time.Millisecond
)

// List makes w that of a list of so many bytes, as they are stored.
func (c *Control) List(w *Work, class Class, bytes int64) {
	if bytes > bytesPerSeat {
		w.Seats = int(min((bytes+bytesPerSeat-1)/bytesPerSeat, int64(c.MaxSeats(class))))
	}
}

// Review makes w that of a question of so many bytes, which is answered of all of them: as
// many seats as a list of them has. Less than none is a number that nobody knows.
func (c *Control) Review(w *Work, class Class, bytes int64) {
	if bytes < 0 {
		bytes = math.MaxInt64 - bytesPerSeat
	}
	c.List(w, class, bytes)
}

// Write makes w that of a write that so many watches are told of: as many seats, for as
// long after it, as sending that takes. Where these are too many it has fewer for longer.
func (c *Control) Write(w *Work, class Class, watches int) {
	w.Writes, w.Watches = true, watches
	if watches < watchesPerSeat {
		return
	}
	seats := (watches + watchesPerSeat - 1) / watchesPerSeat
	w.Seats = min(seats, c.MaxSeats(class))
	w.After = time.Duration(math.Ceil(float64(eventTime) * float64(seats) / float64(w.Seats)))
}

// MaxSeats is the most seats that one request of a class should have.
func (c *Control) MaxSeats(class Class) int {
	return min(class.schema.level.maxSeats(), mostSeats)
}
