package encrypted

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// Transformer turns values into what is kept, and back. It is used concurrently, and
// changes nothing that it is given.
type Transformer interface {
	// ToStorage is what is kept of a value under a key.
	ToStorage(ctx context.Context, key string, value []byte) ([]byte, error)
	// FromStorage is the value of what is kept under a key. stale tells that
	// ToStorage would make something of another form.
	FromStorage(ctx context.Context, key string, kept []byte) (value []byte, stale bool, err error)
}

// Store is a store whose values are kept transformed. Sizes that are too large are
// those of what is kept.
type Store struct {
	storage.Store
	transformer Transformer
	failed      func(key string, err error)
	unreadable  unreadable
}

var _ storage.Store = (*Store)(nil)

// New returns a store over another one, which holds the transformed values. failed
// is told of every value that is met and cannot be read; it must be fast.
func New(store storage.Store, t Transformer, failed func(key string, err error)) *Store {
	return &Store{Store: store, transformer: t, failed: failed, unreadable: unreadable{keys: map[string]struct{}{}, again: make(chan struct{})}}
}

// open makes what is kept of a key what its readers see.
func (s *Store) open(ctx context.Context, kv *storage.KV) {
	value, stale, err := s.transformer.FromStorage(ctx, kv.Key, kv.Value)
	switch {
	case err != nil:
		kv.Value, kv.Keeping = nil, storage.Unreadable
		if s.failed != nil {
			s.failed(kv.Key, err)
		}
	case stale:
		kv.Value, kv.Keeping = value, storage.Stale
	default:
		kv.Value, kv.Keeping = value, storage.Kept
	}
}

// openError makes the present state in an error what readers see. It returns the
// error, or one that has it.
func (s *Store) openError(ctx context.Context, err error) error {
	var e *storage.Error
	if !errors.As(err, &e) || e.Current == nil {
		return err
	}
	opened, now := *e, *e.Current
	s.open(ctx, &now)
	opened.Current = &now
	return &opened
}

// Get implements storage.Reader.
func (s *Store) Get(ctx context.Context, key string) (storage.KV, error) {
	kv, err := s.Store.Get(ctx, key)
	if err == nil {
		s.open(ctx, &kv)
	}
	return kv, err
}

// Range implements storage.Reader.
func (s *Store) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	page, err := s.Store.Range(ctx, r)
	if err == nil {
		s.openPage(ctx, &page)
	}
	return page, err
}

// Scan implements storage.Reader.
func (s *Store) Scan(ctx context.Context, r storage.Range, fn func(storage.Page) error) error {
	return s.Store.Scan(ctx, r, func(page storage.Page) error {
		s.openPage(ctx, &page)
		for i := range page.KVs {
			s.unreadable.saw(&page.KVs[i])
		}
		return fn(page)
	})
}

func (s *Store) openPage(ctx context.Context, page *storage.Page) {
	page.KVs = slices.Clone(page.KVs)
	for i := range page.KVs {
		s.open(ctx, &page.KVs[i])
	}
}

// Create implements storage.Writer.
func (s *Store) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	return writer{store: s, inner: s.Store}.Create(ctx, key, value, ttl)
}

// Update implements storage.Writer.
func (s *Store) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	return writer{store: s, inner: s.Store}.Update(ctx, key, value, rev, ttl)
}

// Delete implements storage.Writer.
func (s *Store) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	return writer{store: s, inner: s.Store}.Delete(ctx, key, rev)
}

// While implements storage.Guarder.
func (s *Store) While(key string, rev int64) storage.GuardedWriter {
	return writer{store: s, inner: s.Store.While(key, rev)}
}

// Along implements storage.Guarder.
func (s *Store) Along(key string, value []byte, rev int64) storage.GuardedWriter {
	return writer{store: s}.along(s.Store, key, value, rev)
}

// notEncrypted is an error of the transformer as one of the store: nothing was written.
func notEncrypted(key string, rev int64, err error) error {
	return &storage.Error{Kind: storage.Unavailable, Key: key, Revision: rev, Cause: fmt.Errorf("encrypting the value: %w", err)}
}
