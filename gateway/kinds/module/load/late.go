package load

import (
	"fmt"
	"time"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// A start that is late takes a processor until it is ended, and whether it is the
// module's fault does not show: it is tried again, after pauses that double.
const (
	firstPause = time.Second
	lastPause  = 5 * time.Minute
)

// lateStart is a revision whose start was too late.
type lateStart struct {
	problem module.Refusal
	pause   time.Duration
	until   time.Time // is not tried before
}

// lateStarts are some, by the identity of the revision.
type lateStarts map[string]lateStart

// note notes that a problem is a start that was late, or that it is none.
func (s lateStarts) note(now time.Time, identity string, problem *module.Refusal) bool {
	if problem == nil || problem.Reason != string(plugins.StartLate) {
		delete(s, identity)
		return false
	}
	pause := firstPause
	if last, again := s[identity]; again {
		pause = min(2*last.pause, lastPause)
	}
	for other, l := range s {
		if now.Sub(l.until) > lastPause { // it is not asked for any more
			delete(s, other)
		}
	}
	problem.Message += fmt.Sprintf("; it is tried again, within %s", lastPause)
	s[identity] = lateStart{problem: *problem, pause: pause, until: now.Add(pause)}
	return true
}

// paused is why a revision is not tried now, nil where it is.
func (s lateStarts) paused(now time.Time, identity string) *module.Refusal {
	l, ok := s[identity]
	if !ok || !now.Before(l.until) {
		return nil
	}
	return &l.problem
}

// next is how long it is until something is tried again, zero for nothing.
func (s lateStarts) next(now time.Time) (next time.Duration) {
	for _, l := range s {
		if left := l.until.Sub(now); left > 0 && (next == 0 || left < next) {
			next = left
		}
	}
	return next
}
