package pool

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
)

// on makes a pool of things that take size each, on a shelf.
func on(s *Shelf, f *factory, most int, size int64) *Pool[*thing] {
	return New(Config[*thing]{New: f.new, Close: f.close, Max: most, Shelf: s, Size: func(*thing) int64 { return size }})
}

func wantStats(t *testing.T, what string, p *Pool[*thing], want Stats) {
	t.Helper()
	if got := p.Stats(); got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestTheShelfGivesBackWhoWasIdleForLongest(t *testing.T) {
	f, s := &factory{}, NewShelf(25)
	a, b := on(s, f, 2, 10), on(s, f, 2, 10)
	a1, a2, b1 := take(t, a), take(t, a), take(t, b)
	wantStats(t, "in use", a, Stats{InUse: 2, Max: 2})
	a1.Return()
	b1.Return()
	if s.Used() != 20 || f.alive.Load() != 3 {
		t.Errorf("%d used, %d alive", s.Used(), f.alive.Load())
	}
	a2.Return()
	if !a1.Value.closed.Load() || b1.Value.closed.Load() || a2.Value.closed.Load() || s.Used() != 20 {
		t.Errorf("closed: %v %v %v, %d used", a1.Value.closed.Load(), b1.Value.closed.Load(), a2.Value.closed.Load(), s.Used())
	}
	wantStats(t, "one given back", a, Stats{Idle: 1, IdleSize: 10, Max: 2, GivenBack: 1})
	wantStats(t, "the other pool", b, Stats{Idle: 1, IdleSize: 10, Max: 2})
	// Who is used is not on the shelf, and comes back as the last.
	b1 = take(t, b)
	a3, a4 := take(t, a), take(t, a) // the idle one, and a new one in the free place
	if a3 != a2 || a4.Value.id != 4 || s.Used() != 0 {
		t.Errorf("members %d and %d, %d used", a3.Value.id, a4.Value.id, s.Used())
	}
	a4.Return()
	b1.Return()
	a3.Return()
	if !a4.Value.closed.Load() || a3.Value.closed.Load() || b1.Value.closed.Load() {
		t.Error("it was not the one that was idle for longest")
	}
}

func TestWhatIsLargerThanTheShelfIsNotKept(t *testing.T) {
	f, s := &factory{}, NewShelf(25)
	small, large := on(s, f, 1, 10), on(s, f, 1, 26)
	take(t, small).Return()
	// Nor does it push out what fits.
	for want := int64(2); want < 4; want++ {
		l := take(t, large)
		if l.Value.id != want {
			t.Errorf("member %d", l.Value.id)
		}
		l.Return()
	}
	wantStats(t, "large", large, Stats{Max: 1, GivenBack: 2})
	if s.Used() != 10 || f.alive.Load() != 1 {
		t.Errorf("%d used, %d alive", s.Used(), f.alive.Load())
	}
}

func TestADrainedPoolLeavesTheShelf(t *testing.T) {
	f, s := &factory{}, NewShelf(25)
	a, b := on(s, f, 2, 10), on(s, f, 2, 10)
	l := take(t, a)
	take(t, a).Return()
	take(t, b).Return()
	a.Drain()
	if s.Used() != 10 {
		t.Errorf("%d used", s.Used())
	}
	l.Return() // closed
	<-a.Empty()
	take(t, b).Return()
	wantStats(t, "the other", b, Stats{Idle: 1, IdleSize: 10, Max: 2})
	if s.Used() != 10 || f.alive.Load() != 1 {
		t.Errorf("%d used, %d alive", s.Used(), f.alive.Load())
	}
}

// A member that the shelf gave back is still of its pool until it is closed:
// what it runs in may not go before.
func TestAPoolIsEmptyWhenWhatWasGivenBackIsClosed(t *testing.T) {
	f, s := &factory{}, NewShelf(10)
	closing, goOn := make(chan struct{}), make(chan struct{})
	slow := New(Config[*thing]{New: f.new, Max: 1, Shelf: s, Size: func(*thing) int64 { return 10 }, Close: func(m *thing) {
		close(closing)
		<-goOn
		f.close(m)
	}})
	take(t, slow).Return()
	other := on(s, f, 1, 10)
	returned := make(chan struct{})
	l := take(t, other)
	go func() { defer close(returned); l.Return() }()
	<-closing
	slow.Drain()
	select {
	case <-slow.Empty():
		t.Error("empty while a member is being closed")
	default:
	}
	close(goOn)
	<-slow.Empty()
	<-returned
	if f.alive.Load() != 1 {
		t.Errorf("%d alive", f.alive.Load())
	}
}

func TestHammerOfPoolsOnOneShelf(t *testing.T) {
	f, s := &factory{}, NewShelf(50)
	var pools []*Pool[*thing]
	for i := range 4 {
		pools = append(pools, on(s, f, 4, int64(5+5*i)))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 2000 {
				l, err := pools[rand.IntN(len(pools))].Take(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				use(t, l)
				if n := s.Used(); n > 50 {
					t.Errorf("%d on the shelf", n)
				}
			}
		})
	}
	wg.Wait()
	for _, p := range pools {
		p.Drain()
		<-p.Empty()
	}
	if f.alive.Load() != 0 || s.Used() != 0 {
		t.Errorf("%d alive, %d used", f.alive.Load(), s.Used())
	}
}
