package bounds

import (
	"context"
	"slices"
	"sync"
)

// Turns are how much heavy work goes on at a time. Whoever works on a large object or a
// module takes a turn first, of which there are fewer than processors: what is small never
// waits behind more of it than that. Users take turns among each other. It is safe for
// concurrent use.
type Turns struct {
	mu   sync.Mutex
	free int
	// lines are of the users that wait, whose turn is next first.
	lines []*line
}

// line is those of one user that wait, in the order in which they came.
type line struct {
	user    string
	waiting []chan struct{}
}

// NewTurns makes one turn less than there are processors, so many, and at least one.
func NewTurns(processors int) *Turns { return &Turns{free: max(1, processors-1)} }

// Take waits for a turn, which has to be given back by [Turns.Give], unless ctx ends
// first. Work in a turn must not wait for anybody.
func (t *Turns) Take(ctx context.Context, user string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	l := t.line(user)
	l.waiting = append(l.waiting, mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	if !t.leave(user, mine) { // it came just now
		t.Give()
	}
	return ctx.Err()
}

// line is the line of a user; the caller has the lock.
func (t *Turns) line(user string) *line {
	for _, l := range t.lines {
		if l.user == user {
			return l
		}
	}
	l := &line{user: user}
	t.lines = append(t.lines, l)
	return l
}

// leave takes one that waits out of its line, and reports whether it was there.
func (t *Turns) leave(user string, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := slices.IndexFunc(t.lines, func(l *line) bool { return l.user == user })
	if n < 0 {
		return false
	}
	l := t.lines[n]
	i := slices.Index(l.waiting, mine)
	if i < 0 {
		return false
	}
	if l.waiting = slices.Delete(l.waiting, i, i+1); len(l.waiting) == 0 {
		t.lines = slices.Delete(t.lines, n, n+1)
	}
	return true
}

// Give gives a turn to the next that waits: the user's who has waited longest for one.
func (t *Turns) Give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		t.free++
		return
	}
	l := t.lines[0]
	next := l.waiting[0]
	l.waiting = l.waiting[1:]
	if t.lines = t.lines[1:]; len(l.waiting) > 0 {
		t.lines = append(t.lines, l)
	}
	close(next)
}
