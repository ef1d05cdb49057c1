package controllertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// Story is what controllers make of a world. [Story.Tell] tells it with what can
// happen around them; it has to end alike.
type Story struct {
	// World makes the objects that there are at the beginning.
	World func(t *testing.T) *Objects
	// Lead returns the controllers of a gateway that begins to lead and
	// remembers nothing.
	Lead func(s *Seat) []controller.Controller
	// Main is what is deleted and made again.
	Main controller.Key
	// Again is done after Main was made again; nil for nothing.
	Again func(t *testing.T, o *Objects)
	// Outcome is what a client sees in the end, and Want what that has to be.
	Outcome func(t *testing.T, o *Objects) string
	Want    string
}

// trouble is what happens at the n-th write of a leader, or at its n-th call.
type trouble int

const (
	none trouble = iota
	// stale: reads never see a write before a while has passed, or who reads
	// waits for that.
	stale
	// replaced: another object takes the place of the main one.
	replaced
	// endsBefore: the leader ends, and the write is not made.
	endsBefore
	// endsAfter: the leader ends, and does not hear that the write was made.
	endsAfter
	// frozen: the leader stands still until another has done its work, and then
	// goes on.
	frozen
	// failing: a call fails, a read or a write, and nothing else happens.
	failing
)

// Of the time of a story's own clock, which passes when all wait: enough is
// more than any controller needs, and seen how long a cache lags.
const (
	enough = 20 * time.Minute
	seen   = 100 * time.Millisecond
)

// most is how many writes a leader may make before its story is no story.
const most = 10_000

// mostFailing is how many of the calls of a story fail in turn, from the first on.
const mostFailing = 150

// Tell tells the story without trouble, with a stale cache, with each other trouble at
// each of the writes, and with each of the first calls failing.
func (s Story) Tell(t *testing.T) {
	writes, calls := 0, 0
	if !t.Run("undisturbed", func(t *testing.T) { writes, calls = s.tell(t, none, 0) }) {
		return
	}
	if writes == 0 {
		t.Fatal("the controllers write nothing")
	}
	t.Run("stale cache", func(t *testing.T) { s.tell(t, stale, 0) })
	for name, what := range map[string]trouble{"recreated object": replaced, "leader lost before": endsBefore, "leader lost after": endsAfter, "frozen leader": frozen} {
		for n := 1; n <= writes; n++ {
			t.Run(fmt.Sprintf("%s write %d", name, n), func(t *testing.T) { s.tell(t, what, n) })
		}
	}
	for n := 1; n <= min(calls, mostFailing); n++ {
		t.Run(fmt.Sprintf("failed call %d", n), func(t *testing.T) { s.tell(t, failing, n) })
	}
}

// telling is one telling of a story.
type telling struct {
	Story
	*Objects
	what trouble
	at   int

	mu            sync.Mutex
	writes, calls int
	// struck is closed when the trouble has come, and thaw when a leader that
	// stands still goes on.
	struck, thaw chan struct{}
}

func (s Story) tell(t *testing.T, what trouble, at int) (writes, calls int) {
	synctest.Test(t, func(t *testing.T) {
		y := &telling{Story: s, Objects: s.World(t), what: what, at: at, struck: make(chan struct{}), thaw: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if what == stale {
			y.HoldAll()
			go func() {
				for controller.Pause(ctx, seen) {
					_ = y.Fresh(ctx)
				}
			}()
		}
		stop := Start(t, y.Objects, s.Lead(&Seat{y.Objects, y.call, func(ctx context.Context, key controller.Key, commit func() error) error {
			return y.write(t, ctx, key, commit)
		}})...)
		defer func() { stop() }()
		y.strike(t, &stop)
		<-time.After(enough)
		synctest.Wait()
		before := y.Objects.Writes()
		if got := s.Outcome(t, y.Objects); got != s.Want {
			t.Errorf("it ends with\n%s\nwant\n%s", got, s.Want)
		}
		<-time.After(enough)
		if n := y.Objects.Writes() - before; n > 0 {
			t.Errorf("it does not come to rest: %d more writes", n)
		}
		if y.foretold != nil {
			t.Errorf("said of one object, and known of another: %q", y.foretold)
		}
		y.mu.Lock() // controllers may go on
		defer y.mu.Unlock()
		writes, calls = y.writes, y.calls
	})
	return writes, calls
}

// strike sees to what the trouble needs of others than the leader.
func (y *telling) strike(t *testing.T, stop *func()) {
	if y.at == 0 {
		return
	}
	select {
	case <-y.struck:
	case <-time.After(enough):
		t.Log("there was no such write, or call")
		return
	}
	lead := func() func() {
		return Start(t, y.Objects, y.Lead(&Seat{y.Objects, func() error { return nil }, func(_ context.Context, _ controller.Key, commit func() error) error { return commit() }})...)
	}
	switch y.what {
	case endsBefore, endsAfter:
		(*stop)()
		*stop = lead()
	case frozen:
		first, second := *stop, lead()
		*stop = func() { first(); second() }
		<-time.After(enough)
		close(y.thaw)
	}
}

// errEnded is what a leader gets that ends with a write.
var errEnded = errors.New("the gateway ended")

// call is a call of the first leader.
func (y *telling) call() error {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.calls++; y.what != failing || y.calls != y.at {
		return nil
	}
	close(y.struck)
	return ErrAway
}

// write makes a write of the first leader.
func (y *telling) write(t *testing.T, ctx context.Context, key controller.Key, commit func() error) error {
	y.mu.Lock()
	y.writes++
	now, many := y.what != failing && y.writes == y.at, y.writes > most
	y.mu.Unlock()
	if now {
		close(y.struck)
	}
	if many { // the clock of a story stands still as long as anybody is busy
		t.Errorf("more than %d writes: it does not come to rest", most)
		<-ctx.Done()
	}
	switch {
	case now && y.what == replaced:
		y.Replace(y.Main)
		if y.Again != nil {
			y.Again(t, y.Objects)
		}
	case now && y.what == endsBefore:
		<-ctx.Done()
	case now && y.what == frozen:
		<-y.thaw
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := commit()
	if now && y.what == endsAfter {
		<-ctx.Done()
		return errEnded
	}
	if y.what == stale && err == nil {
		y.Wake(key)
	}
	return err
}
