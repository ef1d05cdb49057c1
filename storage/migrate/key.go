package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/wasmgate/wasmgate/storage"
)

// key rewrites one key unless it is as it should be, and reports whether it
// did.
func (r *run) key(ctx context.Context, kv storage.KV) (bool, error) {
	var tried []byte // which may have been written
	for range maxConflicts {
		value, changed, err := r.rewrite(ctx, kv)
		if err != nil {
			return false, err
		}
		if !changed {
			if tried != nil && bytes.Equal(tried, kv.Value) {
				return true, nil
			}
			return r.rewrittenEarlier(ctx, kv)
		}
		if err := r.writes.Wait(ctx); err != nil {
			return false, &awayError{err}
		}
		_, err = r.store.Update(ctx, kv.Key, value, kv.Revision, 0)
		var e *storage.Error
		switch {
		case err == nil:
			return true, nil
		case !errors.As(err, &e):
			return false, err
		case e.Kind == storage.NotFound:
			return false, nil // gone, so nothing is left to rewrite
		case e.Kind == storage.Full, e.Kind == storage.Changed: // as it will be for every key
			return false, &awayError{err}
		case e.Kind == storage.Conflict && e.Current != nil:
			kv = *e.Current
		case e.Kind == storage.Conflict, e.Kind == storage.Unavailable:
			// Whether the write happened is not known: look.
			tried = value
			if kv, err = r.store.Get(ctx, kv.Key); err != nil {
				if storage.KindOf(err) == storage.NotFound {
					return false, nil
				}
				return false, &awayError{err}
			}
		default:
			return false, err
		}
	}
	return false, fmt.Errorf("changed %d times while it was being rewritten", maxConflicts)
}

// Panic is what became of a Rewrite that panicked: the failure of that key.
type Panic struct {
	// Value is what was passed to panic, Stack where that happened.
	Value any
	Stack []byte
}

// Error says what was passed to panic.
func (p *Panic) Error() string { return fmt.Sprintf("rewriting it panicked: %v", p.Value) }

func (r *run) rewrite(ctx context.Context, kv storage.KV) (value []byte, changed bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			value, changed, err = nil, false, &Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	return r.o.Rewrite(ctx, kv)
}

// Later is for an error of Rewrite that says nothing of the key: the run ends there, with
// that error, and can be resumed.
func Later(err error) error { return &awayError{err} }

// awayError is the store's failure to answer, or to take anything, which is no
// failure of the key.
type awayError struct{ cause error }

func (e *awayError) Error() string { return e.cause.Error() }

func (e *awayError) Unwrap() error { return e.cause }
