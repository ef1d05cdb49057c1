package conversion

import (
	"context"
	"runtime"
	"sync"
)

// Batch bounds one call of a converter. A zero field means its default.
type Batch struct {
	// MaxObjects is how many objects one call carries, by default 500.
	MaxObjects int
	// MaxBytes is how many bytes of objects one call carries, by default 1
	// MiB; a larger object travels alone.
	MaxBytes int
	// Parallel is how many calls run at once, by default GOMAXPROCS.
	Parallel int
}

func (b Batch) withDefaults() Batch {
	if b.MaxObjects <= 0 {
		b.MaxObjects = 500
	}
	if b.MaxBytes <= 0 {
		b.MaxBytes = 1 << 20
	}
	if b.Parallel <= 0 {
		b.Parallel = runtime.GOMAXPROCS(0)
	}
	return b
}

// Batched is [Checked] for batches of any size: a large one is carried out as
// several bounded calls, some of them at the same time. The first error ends
// the rest.
func Batched(c Converter, b Batch) Converter {
	return &batched{inner: Checked(c), batch: b.withDefaults()}
}

type batched struct {
	inner Converter
	batch Batch
}

func (b *batched) Epoch() uint64 { return b.inner.Epoch() }

func (b *batched) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	parts := b.batch.split(objects)
	if len(parts) <= 1 {
		return b.inner.Convert(ctx, desired, objects)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		out   = make([][]byte, len(objects))
		queue = make(chan span)
		wg    sync.WaitGroup
		once  sync.Once
		first error
	)
	for range min(b.batch.Parallel, len(parts)) {
		wg.Go(func() {
			for part := range queue {
				done, err := b.inner.Convert(ctx, desired, objects[part.from:part.to])
				if err != nil {
					once.Do(func() { first = err })
					cancel()
					continue
				}
				copy(out[part.from:part.to], done)
			}
		})
	}
	for _, part := range parts {
		if ctx.Err() != nil {
			break
		}
		queue <- part
	}
	close(queue)
	wg.Wait()
	if first != nil {
		return nil, first
	}
	if err := ctx.Err(); err != nil {
		return nil, &Error{To: desired, Reason: "conversion to " + desired + " was given up: " + err.Error(), Cause: err}
	}
	return out, nil
}

// span is a run of objects.
type span struct{ from, to int }

func (b Batch) split(objects [][]byte) []span {
	var parts []span
	from, size := 0, 0
	for i, o := range objects {
		if i > from && (i-from == b.MaxObjects || size+len(o) > b.MaxBytes) {
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
