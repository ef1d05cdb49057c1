package conversion

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/deadline"
)

// Batch bounds one call of a converter. A zero field means its default.
type Batch struct {
	// MaxObjects is how many objects one call carries, by default [MaxObjects].
	MaxObjects int
	// MaxBytes is how many bytes of objects one call carries, by default 1
	// MiB; a larger object travels alone.
	MaxBytes int
	// Parallel is how many calls run at once for one caller, by default
	// GOMAXPROCS.
	Parallel int
	// Timeout bounds each call, by default 30 seconds. What waits for its turn
	// spends nothing of it.
	Timeout time.Duration
	// Apart has objects of different namespaces travel in different calls: for a
	// converter that is not trusted to keep one's from another's.
	Apart bool
}

// MaxObjects is how many objects one call of a converter carries at most,
// unless its [Batch] says otherwise.
const MaxObjects = 500

// minShare is the least number of bytes for which it pays to give another core
// a call of its own.
const minShare = 64 << 10

func (b Batch) withDefaults() Batch {
	if b.MaxObjects <= 0 {
		b.MaxObjects = MaxObjects
	}
	if b.MaxBytes <= 0 {
		b.MaxBytes = 1 << 20
	}
	if b.Parallel <= 0 {
		b.Parallel = runtime.GOMAXPROCS(0)
	}
	if b.Timeout <= 0 {
		b.Timeout = 30 * time.Second
	}
	return b
}

// Call is what an observer learns of one call of a converter.
type Call struct {
	// To is the apiVersion that was asked for.
	To string
	// Objects is how many objects were to be converted.
	Objects int
	// Took is how long the call and the checks of its reply took.
	Took time.Duration
	// Err is nil for a call that succeeded.
	Err error
}

// Bulk is a [Converter] for any number of objects: it is the one place where
// many of them are divided into calls of bounded size, which run side by side.
// Replies keep the contract that [Checked] describes. It is safe for
// concurrent use.
type Bulk struct {
	inner   Converter // checked
	batch   Batch
	observe func(Call)
	by      func() By // nil for nobody
}

// Batched makes a Bulk of a converter. One that is a Bulk already is returned
// as it is, with its own bounds.
func Batched(c Converter, b Batch) *Bulk {
	if bulk, ok := c.(*Bulk); ok {
		return bulk
	}
	return &Bulk{inner: Checked(c), batch: b.withDefaults()}
}

// Observed returns a Bulk that does the same, and reports each call, possibly
// several at once.
func (b *Bulk) Observed(observe func(Call)) *Bulk {
	return &Bulk{inner: b.inner, batch: b.batch, observe: observe, by: b.by}
}

// Epoch is that of the converter.
func (b *Bulk) Epoch() uint64 { return b.inner.Epoch() }

// Convert implements [Converter]: all objects, or an error.
func (b *Bulk) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	out := make([][]byte, len(objects))
	err := b.Each(ctx, desired, objects, func(first int, converted [][]byte) {
		copy(out[first:], converted)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Each converts objects to desired, and hands over the outcome of each call as
// soon as it is there: converted are objects[first], objects[first+1] and so
// on, and belong to done. It calls done for every call that succeeded, also
// when another fails, so that nothing that was converted need be converted
// again; when there are several calls, then from several goroutines at once.
// All of them have returned when Each returns.
//
// After a failure, or the end of ctx, no new calls are made, while those under
// way may still succeed. The error is an [*Error]: that of the first objects,
// in their order, that failed.
func (b *Bulk) Each(ctx context.Context, desired string, objects [][]byte, done func(first int, converted [][]byte)) error {
	r := run{bulk: b, desired: desired, objects: objects, parts: b.batch.split(objects), done: done}
	var others sync.WaitGroup
	for range min(b.batch.Parallel, len(r.parts)) - 1 {
		others.Go(func() { r.work(ctx) })
	}
	r.work(ctx)
	others.Wait()
	return r.err
}

// run is one use of a Bulk.
type run struct {
	bulk    *Bulk
	desired string
	objects [][]byte
	parts   []span
	done    func(first int, converted [][]byte)

	next   atomic.Int64 // which of the parts is to be started next
	failed atomic.Bool  // no more parts are started

	mu      sync.Mutex
	err     error // guarded by mu
	errPart int   // guarded by mu: which of the parts err is about
}

// work does parts until there are none, or one failed.
func (r *run) work(ctx context.Context) {
	for !r.failed.Load() {
		n := int(r.next.Add(1)) - 1
		if n >= len(r.parts) {
			return
		}
		if err := r.part(ctx, r.parts[n]); err != nil {
			r.fail(n, err)
		}
	}
}

func (r *run) fail(part int, err error) {
	r.failed.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil || part < r.errPart {
		r.err, r.errPart = err, part
	}
}

func (r *run) part(ctx context.Context, p span) error {
	if err := ctx.Err(); err != nil {
		return &Error{To: r.desired, Reason: "conversion to " + r.desired + " was given up: " + err.Error(), Cause: err}
	}
	converted, err := r.bulk.call(ctx, r.desired, r.objects[p.from:p.to])
	if err != nil {
		return err
	}
	return guarded(r.desired, func() error {
		r.done(p.from, converted)
		return nil
	})
}

// call makes one call, in its own time.
func (b *Bulk) call(ctx context.Context, desired string, objects [][]byte) (converted [][]byte, err error) {
	bounded, end := deadline.WithTimeout(ctx, b.batch.Timeout)
	defer end()
	start := time.Now()
	err = guarded(desired, func() (err error) {
		converted, err = b.inner.Convert(bounded, desired, objects)
		return err
	})
	if b.observe != nil {
		b.observe(Call{To: desired, Objects: len(objects), Took: time.Since(start), Err: err})
	}
	return converted, err
}

// guarded makes a panic of fn, which looks at what a converter replied, an
// error of its call.
func guarded(desired string, fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Error{
				To:     desired,
				Reason: "conversion to " + desired + " failed by a defect of the server",
				Cause:  &Panic{Value: v, Stack: debug.Stack()},
			}
		}
	}()
	return fn()
}

// Panic is the cause of an [*Error] when a converter, or the checks of its
// reply, panicked: a defect of this program that must not end it.
type Panic struct {
	// Value is what was panicked with.
	Value any
	// Stack is where that was, for the log.
	Stack []byte
}

// Error names the kind of panic. Its value may quote an object.
func (p *Panic) Error() string {
	if err, ok := p.Value.(runtime.Error); ok {
		return "panic: " + err.Error()
	}
	return fmt.Sprintf("panic with a %T", p.Value)
}

// span is a run of objects.
type span struct{ from, to int }

// split divides objects into calls. What is enough for several cores is
// divided among them, even where one call could carry it.
func (b Batch) split(objects [][]byte) []span {
	total := 0
	for _, o := range objects {
		total += len(o)
	}
	maxBytes := min(b.MaxBytes, max(minShare, (total+b.Parallel-1)/b.Parallel))
	var parts []span
	from, size := 0, 0
	var home, before []byte
	for i, o := range objects {
		if b.Apart && len(objects) > 1 {
			home, before = namespaceOf(o), home
		}
		if i > from && (i-from == b.MaxObjects || size+len(o) > maxBytes || !bytes.Equal(home, before)) {
			parts = append(parts, span{from, i})
			from, size = i, 0
		}
		size += len(o)
	}
	if from < len(objects) {
		parts = append(parts, span{from, len(objects)})
	}
	return parts
}
