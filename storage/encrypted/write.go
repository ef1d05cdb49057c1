package encrypted

import (
	"context"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// writer is the store as its writes see it.
type writer struct {
	store *Store
	inner storage.Writer
	// failure is why what is to be written along could not be transformed; then
	// nothing is written.
	failure error
}

// While implements storage.Guarder.
func (w writer) While(key string, rev int64) storage.GuardedWriter {
	if w.failure == nil {
		w.inner = w.inner.(storage.Guarder).While(key, rev)
	}
	return w
}

// Along implements storage.Guarder.
func (w writer) Along(key string, value []byte, rev int64) storage.GuardedWriter {
	if w.failure != nil {
		return w
	}
	return w.along(w.inner.(storage.Guarder), key, value, rev)
}

// along is Along of a writer that inner guards. No context comes with it: what
// transforms a value bounds its own time.
func (w writer) along(inner storage.Guarder, key string, value []byte, rev int64) writer {
	kept, err := w.store.transformer.ToStorage(context.Background(), key, value)
	if err != nil {
		w.failure = notEncrypted(key, rev, err)
		return w
	}
	w.inner = inner.Along(key, kept, rev)
	return w
}

// Create implements storage.Writer.
func (w writer) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	return w.put(ctx, key, value, 0, func(kept []byte) (int64, error) { return w.inner.Create(ctx, key, kept, ttl) })
}

// Update implements storage.Writer.
func (w writer) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	return w.put(ctx, key, value, rev, func(kept []byte) (int64, error) { return w.inner.Update(ctx, key, kept, rev, ttl) })
}

func (w writer) put(ctx context.Context, key string, value []byte, rev int64, write func(kept []byte) (int64, error)) (int64, error) {
	if w.failure != nil {
		return 0, w.failure
	}
	kept, err := w.store.transformer.ToStorage(ctx, key, value)
	if err != nil {
		return 0, notEncrypted(key, rev, err)
	}
	n, err := write(kept)
	return n, w.store.openError(ctx, err)
}

// Delete implements storage.Writer.
func (w writer) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	if w.failure != nil {
		return 0, w.failure
	}
	n, err := w.inner.Delete(ctx, key, rev)
	return n, w.store.openError(ctx, err)
}
