package flow

import "time"

// guess is how long a request is thought to take before it is known.
const guess = 3 * time.Millisecond

// queue is some flows of a level, whose requests begin in the order in which they came.
type queue struct {
	waiting   []*Seat
	executing int
	seats     int // of those that execute
	wanted    int // by those that wait
	// next is how far the level will be, in seat-seconds for each queue, when the
	// next one begins if all queues were served at once.
	next float64
}

// idle: what was before does not count any more.
func (q *queue) idle() bool { return q.executing == 0 && len(q.waiting) == 0 }

// work is how much is going on.
func (q *queue) work() int { return q.seats + q.wanted }

// finish is when the first that waits would be ready.
func (q *queue) finish() float64 { return q.next + guess.Seconds()*float64(q.waiting[0].seats) }

func (q *queue) remove(i int) {
	q.wanted -= q.waiting[i].seats
	copy(q.waiting[i:], q.waiting[i+1:])
	q.waiting[len(q.waiting)-1] = nil
	q.waiting = q.waiting[:len(q.waiting)-1]
}

// progress is how far a level would be if all its queues were served at once: the R of
// KEP-1040.
type progress struct {
	at time.Time
	r  float64
}

// advance goes on to now: so many seats were shared by so many queues.
func (p *progress) advance(now time.Time, seats, queues int) {
	if queues > 0 {
		p.r += now.Sub(p.at).Seconds() * float64(seats) / float64(queues)
	}
	p.at = now
}
