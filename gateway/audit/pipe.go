package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/wasmgate/wasmgate/gateway/options"
)

// How events go to a sink.
const (
	// Batch has nobody wait: events are gathered and passed on later.
	Batch = "batch"
	// Blocking has every request wait for its event.
	Blocking = "blocking"
	// Strict has every request wait, and refuses it when its first event cannot be
	// passed on.
	Strict = "blocking-strict"
)

// Passing is how events go to a sink.
type Passing = options.AuditPassing

// maxWaiting is how much memory the events take that wait for a sink, in bytes, about:
// with bodies, a few are as much as many without.
const maxWaiting = 128 << 20

// sink takes events.
type sink interface {
	// name is what metrics call it.
	name() string
	// encode is an event as the sink takes it.
	encode(e *event) ([]byte, error)
	// send passes events on: all of them, or it returns how many it did and an error. It
	// gives up when ctx ends. parallel tells how many sends may be under way.
	send(ctx context.Context, events [][]byte) (sent int, err error)
	parallel() int
	close() error
}

// pipe is the way to one sink.
type pipe struct {
	to      sink
	how     Passing
	metrics Metrics
	state   state

	events  chan *event
	waiting atomic.Int64 // bytes
	done    chan struct{}
	// stop ends what is being sent.
	stop context.CancelFunc
	ctx  context.Context

	mu     sync.RWMutex
	closed bool
}

func newPipe(to sink, how Passing, c Config) *pipe {
	p := &pipe{to: to, how: how, metrics: c.Metrics, done: make(chan struct{})}
	p.state.log = c.Log.Sample(&zerolog.BurstSampler{Burst: 1, Period: time.Minute})
	p.ctx, p.stop = context.WithCancel(context.Background())
	if how.Mode != Batch {
		close(p.done)
		return p
	}
	p.events = make(chan *event, how.BufferSize)
	go p.run()
	return p
}

var (
	errFull   = errors.New("events come faster than they are passed on")
	errClosed = errors.New("the gateway stops")
)

// take passes an event on, or has it wait; it reports whether its request may go on.
func (p *pipe) take(e *event) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	switch {
	case p.closed:
		p.lost("buffered", 1, errClosed)
		return true
	case p.events == nil:
		return p.pass(p.ctx, []*event{e}) || p.how.Mode != Strict
	case p.waiting.Add(e.size()) > maxWaiting:
		p.waiting.Add(-e.size())
		p.lost("buffered", 1, errFull)
		return true
	}
	select {
	case p.events <- e:
	default:
		p.waiting.Add(-e.size())
		p.lost("buffered", 1, errFull)
	}
	return true
}

// lost counts events that are lost, and tells it.
func (p *pipe) lost(plugin string, n int, why error) {
	p.metrics.AuditErrors(plugin, n)
	p.state.failed(time.Now(), fmt.Errorf("%s: %w", p.to.name(), why))
}

// run passes events on until there will be no more.
func (p *pipe) run() {
	defer close(p.done)
	limit := rate.NewLimiter(rate.Inf, 0)
	if p.how.Throttle {
		limit = rate.NewLimiter(rate.Limit(p.how.QPS), p.how.Burst)
	}
	var under errgroup.Group
	under.SetLimit(p.to.parallel())
	for {
		events, more := p.gather()
		if len(events) > 0 {
			_ = limit.Wait(p.ctx) // whoever cannot wait any more sends at once
			under.Go(func() error {
				p.pass(p.ctx, events)
				for _, e := range events {
					p.waiting.Add(-e.size())
				}
				return nil
			})
		}
		if !more {
			break
		}
	}
	_ = under.Wait()
}

// gather waits for events that are passed on at once. more is false after the last.
func (p *pipe) gather() (events []*event, more bool) {
	e, more := <-p.events
	if !more {
		return nil, false
	}
	events = append(events, e)
	var late <-chan time.Time
	if p.how.MaxWait > 0 && p.how.MaxSize > 1 {
		timer := time.NewTimer(p.how.MaxWait)
		defer timer.Stop()
		late = timer.C
	}
	for len(events) < p.how.MaxSize {
		if late == nil && len(p.events) == 0 {
			break
		}
		select {
		case e, more := <-p.events:
			if !more {
				return events, false
			}
			events = append(events, e)
		case <-late:
			return events, true
		}
	}
	return events, true
}

// pass encodes events and sends them, and reports whether all were.
func (p *pipe) pass(ctx context.Context, events []*event) bool {
	ok := true
	var batch [][]byte
	var bytes int64
	send := func() {
		if len(batch) == 0 {
			return
		}
		sent, err := p.to.send(ctx, batch)
		if err != nil {
			p.lost(p.to.name(), len(batch)-sent, err)
			ok = false
		} else {
			p.state.passed()
		}
		batch, bytes = nil, 0
	}
	for _, e := range events {
		text, err := p.encoded(e)
		if err != nil {
			ok = false
			continue
		}
		if p.how.Truncate && bytes+int64(len(text)) > p.how.MaxBatchBytes {
			send()
		}
		batch, bytes = append(batch, text), bytes+int64(len(text))
	}
	send()
	return ok
}

// encoded is an event as the sink takes it, in so many bytes as it may have.
func (p *pipe) encoded(e *event) ([]byte, error) {
	text, err := p.to.encode(e)
	if err != nil {
		p.lost(p.to.name(), 1, err)
		return nil, err
	}
	if !p.how.Truncate || int64(len(text)) <= p.how.MaxEventBytes {
		return text, nil
	}
	if e.hasBodies() {
		text, err = e.bare()
	}
	if err == nil && int64(len(text)) > p.how.MaxEventBytes {
		err = errors.New("an event is too large without its bodies, too")
	}
	if err != nil {
		p.lost("truncate", 1, err)
		return nil, err
	}
	return text, nil
}

// close passes on what waits, until ctx ends.
func (p *pipe) close(ctx context.Context) error {
	// Requests that wait for their events hold the lock, for as long as a sink may hang.
	defer context.AfterFunc(ctx, p.stop)()
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		if p.events != nil {
			close(p.events)
		}
	}
	p.mu.Unlock()
	<-p.done
	p.stop()
	return p.to.close()
}
