package flow

import (
	"context"
	"slices"
	"time"
)

// Seat is what one request has of a level. Its zero value is no seat. It must not be
// copied while it is used, which is by one goroutine at a time.
type Seat struct {
	level *level
	queue *queue
	seats int
	work  Work
	// flow is which of its schema's it is of, and tally that of the schema.
	flow  string
	tally *tally
	// arrived is when it came, began when it had its seats: zero while it waits.
	arrived, began time.Time
	turn           chan struct{}
	// sends is since when only the reply is left, zero before; reclaimed: others have
	// its seats. Both are the level's to change.
	sends     time.Time
	reclaimed bool
	// before and after are its neighbours among those that execute.
	before, after *Seat
}

// Waited is how long it took until it had its seats; nothing for what has none.
func (s *Seat) Waited() time.Duration { return s.began.Sub(s.arrived) }

// Refusal is why a request may not begin, by kube-apiserver's names.
type Refusal string

// The reasons.
const (
	// QueueFull: there is no place to wait.
	QueueFull Refusal = "queue-full"
	// NoSeats: there is no seat, and nobody waits at this level.
	NoSeats Refusal = "concurrency-limit"
	// TimeOut: it waited too long.
	TimeOut Refusal = "time-out"
)

// Error implements error.
func (r Refusal) Error() string { return string(r) }

// enter takes a seat, or waits for one.
func (l *level) enter(ctx context.Context, s *Seat, of flowID) error {
	l.mu.Lock()
	now := time.Now()
	s.arrived = now
	l.advance(now)
	if !l.fits(s.seats) {
		l.reclaim(now)
		l.dispatch(now) // who waits comes first
	}
	q := l.choose(of)
	if l.waiting == 0 && l.fits(s.seats) {
		s.tally.arrive(&s.work, q != nil, 1)
		l.join(s, q)
		l.begin(s, now)
		l.mu.Unlock()
		return nil
	}
	if q == nil || len(q.waiting) >= l.queueLength {
		defer l.mu.Unlock()
		t := s.tally
		t.arrive(&s.work, false, 0)
		*s = Seat{}
		if q == nil {
			return t.refuse(NoSeats)
		}
		return t.refuse(QueueFull)
	}
	l.join(s, q)
	s.turn = make(chan struct{})
	q.waiting = append(q.waiting, s)
	q.wanted += s.seats
	l.waiting++
	l.wanted += s.seats
	s.tally.arrive(&s.work, true, len(q.waiting))
	s.tally.queue(s, 1)
	l.demand.reach(l.seats + l.wanted)
	l.dispatch(now) // it may be the first that fits
	l.reclaimLater()
	l.mu.Unlock()
	return l.wait(ctx, s, s.work.Wait)
}

// wait waits for the turn of a request that is in a queue.
func (l *level) wait(ctx context.Context, s *Seat, most time.Duration) error {
	var over <-chan time.Time
	if most > 0 {
		over = time.After(most)
	}
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
	case <-over:
	}
	return l.giveUp(s)
}

// join makes a queue that of a request; what was before counts no more where it is idle.
func (l *level) join(s *Seat, q *queue) {
	if s.queue = q; q != nil && q.idle() {
		q.next = l.clock.r
		l.active++
	}
}

// quit is called when a queue has one request less.
func (l *level) quit(q *queue) {
	if q.idle() {
		l.active--
	}
}

// giveUp takes a request out of its queue, unless its turn has come meanwhile.
func (l *level) giveUp(s *Seat) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(s.queue.waiting, s)
	if i < 0 {
		return nil
	}
	now := time.Now()
	l.advance(now)
	s.queue.remove(i)
	l.quit(s.queue)
	l.waiting--
	l.wanted -= s.seats
	t := s.tally
	t.queue(s, -1)
	t.Waited[0].Since(s.arrived, now)
	*s = Seat{}
	l.dispatch(now) // it may have been in the way
	return t.refuse(TimeOut)
}

// Leave gives back the seat. It may be called more than once.
func (s *Seat) Leave() {
	if s.level != nil {
		s.level.leave(s)
		*s = Seat{}
	}
}

// leave ends a request, whose seats may stay taken for a while.
func (l *level) leave(s *Seat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.reclaimed {
		return
	}
	now := time.Now()
	l.ended(s, now)
	if s.work.After == 0 {
		l.free(s, now)
		return
	}
	taken := *s
	time.AfterFunc(s.work.After, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.free(&taken, time.Now())
	})
}

// ended is called when a request is over, or as good as that.
func (l *level) ended(s *Seat, now time.Time) {
	s.tally.ended(s, now)
	l.unlink(s)
	if !s.sends.IsZero() {
		l.sending--
	}
}

// free gives the seats of a request to others.
func (l *level) free(s *Seat, now time.Time) {
	l.advance(now)
	l.vacate(s, now)
	l.dispatch(now)
}

// vacate takes the seats of a request from it.
func (l *level) vacate(s *Seat, now time.Time) {
	l.executing--
	l.seats -= s.seats
	s.tally.Seats -= s.seats
	if q := s.queue; q != nil {
		q.executing--
		q.seats -= s.seats
		// What it took is charged in place of what it was thought to take.
		q.next += (now.Sub(s.began) - guess).Seconds() * float64(s.seats)
		l.quit(q)
	}
}

// link and unlink keep the requests that execute.
func (l *level) link(s *Seat) {
	if s.after = l.first; s.after != nil {
		s.after.before = s
	}
	l.first = s
}

func (l *level) unlink(s *Seat) {
	if s.after != nil {
		s.after.before = s.before
	}
	if s.before != nil {
		s.before.after = s.after
	} else {
		l.first = s.after
	}
	s.before, s.after = nil, nil
}
