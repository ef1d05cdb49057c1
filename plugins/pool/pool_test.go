package pool

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

type thing struct {
	id     int64
	inUse  atomic.Bool
	closed atomic.Bool
}

type factory struct {
	made, alive, most atomic.Int64
	fail              atomic.Bool
}

func (f *factory) new(context.Context) (*thing, error) {
	if f.fail.Load() {
		return nil, errors.New("no")
	}
	n := f.alive.Add(1)
	for old := f.most.Load(); n > old && !f.most.CompareAndSwap(old, n); old = f.most.Load() {
	}
	return &thing{id: f.made.Add(1)}, nil
}

func (f *factory) close(t *thing) {
	t.closed.Store(true)
	f.alive.Add(-1)
}

func take(t *testing.T, p *Pool[*thing]) *Lease[*thing] {
	t.Helper()
	l, err := p.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// use uses a member, which fails one time in ten.
func use(t *testing.T, l *Lease[*thing]) {
	t.Helper()
	if !l.Value.inUse.CompareAndSwap(false, true) || l.Value.closed.Load() {
		t.Error("a member was handed out twice, or closed")
	}
	l.Value.inUse.Store(false)
	if rand.IntN(10) == 0 {
		l.Discard()
	} else {
		l.Return()
	}
}

func newPool(f *factory, most, uses int) *Pool[*thing] {
	return New(Config[*thing]{New: f.new, Close: f.close, Max: most, MaxUses: uses})
}

func TestReusesAndRecycles(t *testing.T) {
	f := &factory{}
	p := newPool(f, 2, 3)
	for range 7 {
		l := take(t, p)
		l.Return()
	}
	if f.made.Load() != 3 || f.alive.Load() != 1 {
		t.Errorf("7 uses of members that last 3: made %d, alive %d", f.made.Load(), f.alive.Load())
	}
}

func TestMembersLastForEverWithoutABound(t *testing.T) {
	f := &factory{}
	p := newPool(f, 1, 0)
	for range 5 {
		l := take(t, p)
		l.Return()
	}
	if f.made.Load() != 1 {
		t.Errorf("made %d members for 5 uses", f.made.Load())
	}
}

func TestTakeWaitsForAPlaceAndForItsContext(t *testing.T) {
	f := &factory{}
	p := newPool(f, 1, 0)
	l := take(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Take(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("full pool, cancelled context: %v", err)
	}
	got := make(chan int64)
	go func() {
		l, err := p.Take(context.Background())
		if err != nil {
			close(got)
			return
		}
		got <- l.Value.id
		l.Return()
	}()
	l.Discard()
	if id := <-got; id != 2 {
		t.Errorf("after a discard the waiter got member %d, want a new one", id)
	}
}

func TestFailedNewFreesItsPlace(t *testing.T) {
	f := &factory{}
	p := newPool(f, 1, 0)
	f.fail.Store(true)
	if _, err := p.Take(t.Context()); err == nil {
		t.Fatal("no error")
	}
	f.fail.Store(false)
	l := take(t, p)
	l.Return()
}

// A drained pool is empty when the last member is closed, also where the last to
// be closed was idle.
func TestADrainedPoolIsEmptyWhenAllAreClosed(t *testing.T) {
	f := &factory{}
	closing, goOn := make(chan struct{}), make(chan struct{})
	var idle *thing
	p := New(Config[*thing]{New: f.new, Max: 2, Close: func(x *thing) {
		if x == idle {
			close(closing)
			<-goOn
		}
		f.close(x)
	}})
	a, b := take(t, p), take(t, p)
	idle = a.Value
	a.Return()
	go p.Drain()
	<-closing
	b.Discard()
	select {
	case <-p.Empty():
		t.Errorf("empty, and %d are alive", f.alive.Load())
	default:
	}
	close(goOn)
	<-p.Empty()
	if f.alive.Load() != 0 {
		t.Errorf("empty, and %d are alive", f.alive.Load())
	}
}

func TestDrainClosesEverythingOnce(t *testing.T) {
	f := &factory{}
	p := newPool(f, 2, 0)
	a, b := take(t, p), take(t, p)
	b.Return()
	p.Drain()
	p.Drain()
	if !b.Value.closed.Load() || a.Value.closed.Load() {
		t.Error("idle members close at once, taken ones do not")
	}
	if _, err := p.Take(t.Context()); !errors.Is(err, ErrDrained) {
		t.Errorf("Take after Drain: %v", err)
	}
	select {
	case <-p.Empty():
		t.Error("empty while a member is taken")
	default:
	}
	a.Return()
	<-p.Empty()
	if f.alive.Load() != 0 {
		t.Errorf("%d left", f.alive.Load())
	}
}

func TestHammer(t *testing.T) {
	f := &factory{}
	p := newPool(f, 4, 10)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for {
				l, err := p.Take(context.Background())
				if err != nil {
					return
				}
				use(t, l)
			}
		})
	}
	for f.made.Load() < 200 {
		l := take(t, p)
		l.Discard()
	}
	p.Drain()
	wg.Wait()
	<-p.Empty()
	if f.alive.Load() != 0 || f.most.Load() > 4 {
		t.Errorf("alive %d, at most %d of 4", f.alive.Load(), f.most.Load())
	}
}

// A panic of New is the caller's to deal with; the place is free again.
func TestAPanicOfNewFreesItsPlace(t *testing.T) {
	f := &factory{}
	panics := true
	p := New(Config[*thing]{New: func(ctx context.Context) (*thing, error) {
		if panics {
			panic("oops")
		}
		return f.new(ctx)
	}, Close: f.close, Max: 1})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = p.Take(t.Context())
	}()
	panics = false
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that who has to wait fails
	l, err := p.Take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	l.Return()
}
