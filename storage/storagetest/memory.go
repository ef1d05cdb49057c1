package storagetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/paging"
)

// maxValue is etcd's usual limit.
const maxValue = 1536 << 10

// errTwice is what etcd says of a transaction that puts a key twice.
var errTwice = errors.New("duplicate key given in txn request")

// Memory is a store for tests: in memory, small, and able to fail on request.
// It keeps all history until told to compact, and is slow when that is long.
type Memory struct {
	// mu guards the fields below.
	mu        sync.Mutex
	log       []storage.Event
	rev       int64
	compacted int64
	asked     int64         // counts progress requests
	changed   chan struct{} // closed and replaced at each change
	broken    chan struct{} // closed and replaced to break all watches
	down      error
}

var _ storage.Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{rev: 1, changed: make(chan struct{}), broken: make(chan struct{})}
}

// Break ends all open watches as Unavailable.
func (m *Memory) Break() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.broken)
	m.broken = make(chan struct{})
}

// Down lets every call fail as Unavailable because of err, and new watches
// end, until it is called with nil.
func (m *Memory) Down(err error) {
	m.mu.Lock()
	m.down = err
	m.mu.Unlock()
	m.Break()
}

// Compact drops all history below rev.
func (m *Memory) Compact(_ context.Context, rev int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.compacted = max(m.compacted, rev)
	return nil
}

// CompactedRevision implements storage.Reader: what Compact was last given.
func (m *Memory) CompactedRevision(ctx context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.beginLocked(ctx); err != nil {
		return 0, err
	}
	return m.compacted, nil
}

// Apply makes all events at one new revision, which it returns.
func (m *Memory) Apply(events ...storage.Event) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.commitLocked(events...)
}

func (m *Memory) commitLocked(events ...storage.Event) int64 {
	m.rev++
	for _, ev := range events {
		ev.Revision = m.rev
		m.log = append(m.log, ev)
	}
	m.wakeLocked()
	return m.rev
}

func (m *Memory) wakeLocked() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// beginLocked fails when ctx has ended or the store is down.
func (m *Memory) beginLocked(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &storage.Error{Kind: storage.Unavailable, Cause: err}
	}
	if m.down != nil {
		return &storage.Error{Kind: storage.Unavailable, Cause: m.down}
	}
	return nil
}

func (m *Memory) findLocked(key string) *storage.KV {
	for i := len(m.log) - 1; i >= 0; i-- {
		if m.log[i].Key == key {
			if m.log[i].Deleted {
				return nil
			}
			kv := m.log[i].KV
			return &kv
		}
	}
	return nil
}

// Get implements storage.Reader.
func (m *Memory) Get(ctx context.Context, key string) (storage.KV, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.beginLocked(ctx); err != nil {
		return storage.KV{}, err
	}
	if kv := m.findLocked(key); kv != nil {
		return *kv, nil
	}
	return storage.KV{}, &storage.Error{Kind: storage.NotFound, Key: key}
}

// Range implements storage.Reader.
func (m *Memory) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.beginLocked(ctx); err != nil {
		return storage.Page{}, err
	}
	rev := r.Revision
	switch {
	case rev == 0:
		rev = m.rev
	case rev > m.rev:
		return storage.Page{}, &storage.Error{Kind: storage.FutureRevision, Revision: rev}
	case rev < m.compacted:
		return storage.Page{}, &storage.Error{Kind: storage.Compacted, Revision: rev}
	}
	state := map[string]storage.KV{}
	for _, ev := range m.log {
		switch {
		case ev.Revision > rev || ev.Key <= r.After || !strings.HasPrefix(ev.Key, r.Prefix):
		case ev.Deleted:
			delete(state, ev.Key)
		default:
			state[ev.Key] = ev.KV
		}
	}
	page := storage.Page{Revision: rev}
	if r.Count {
		page.Count = int64(len(state))
	}
	for _, kv := range state {
		page.KVs = append(page.KVs, kv)
	}
	slices.SortFunc(page.KVs, func(a, b storage.KV) int { return strings.Compare(a.Key, b.Key) })
	if r.Limit > 0 && len(page.KVs) > r.Limit {
		page.KVs, page.More = page.KVs[:r.Limit], true
	}
	return page, nil
}

// Scan implements storage.Reader.
func (m *Memory) Scan(ctx context.Context, r storage.Range, fn func(storage.Page) error) error {
	r.Count = false
	return paging.Scan(ctx, m, r, fn)
}

// Revision implements storage.Reader.
func (m *Memory) Revision(ctx context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rev, m.beginLocked(ctx)
}

// guarded is a memory that is written while guards have their revisions.
type guarded struct {
	*Memory
	guards []storage.KV
	// along are further puts, of keys that guards name.
	along []storage.Event
}

// While implements storage.Guarder.
func (m *Memory) While(key string, rev int64) storage.GuardedWriter {
	return (&guarded{Memory: m}).While(key, rev)
}

// While implements storage.Guarder.
func (m *guarded) While(key string, rev int64) storage.GuardedWriter {
	return &guarded{m.Memory, append(slices.Clip(m.guards), storage.KV{Key: key, Revision: rev}), m.along}
}

// Along implements storage.Guarder.
func (m *Memory) Along(key string, value []byte, rev int64) storage.GuardedWriter {
	return (&guarded{Memory: m}).Along(key, value, rev)
}

// Along implements storage.Guarder.
func (m *guarded) Along(key string, value []byte, rev int64) storage.GuardedWriter {
	out := *m
	out.guards = append(slices.Clip(m.guards), storage.KV{Key: key, Revision: rev})
	out.along = append(slices.Clip(m.along), storage.Event{KV: storage.KV{Key: key, Value: value}})
	return &out
}

// Create implements storage.Writer.
func (m *Memory) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	return (&guarded{Memory: m}).Create(ctx, key, value, ttl)
}

// Update implements storage.Writer.
func (m *Memory) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	return (&guarded{Memory: m}).Update(ctx, key, value, rev, ttl)
}

// Delete implements storage.Writer.
func (m *Memory) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	return (&guarded{Memory: m}).Delete(ctx, key, rev)
}

// Create implements storage.Writer.
func (m *guarded) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	return m.write(ctx, key, 0, ttl, storage.Event{KV: storage.KV{Key: key, Value: value}})
}

// Update implements storage.Writer.
func (m *guarded) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	return m.write(ctx, key, max(rev, 1), ttl, storage.Event{KV: storage.KV{Key: key, Value: value}})
}

// Delete implements storage.Writer.
func (m *guarded) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	return m.write(ctx, key, max(rev, 1), 0, storage.Event{KV: storage.KV{Key: key}, Deleted: true})
}

// write makes ev if key is at rev; 0 means that it does not exist, 1 is no
// key's revision.
func (m *guarded) write(ctx context.Context, key string, rev int64, ttl time.Duration, ev storage.Event) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.beginLocked(ctx); err != nil {
		return 0, err
	}
	if len(ev.Value) > maxValue {
		return 0, &storage.Error{Kind: storage.TooLarge, Key: key}
	}
	if slices.ContainsFunc(m.along, func(other storage.Event) bool { return other.Key == key }) {
		return 0, errTwice
	}
	for _, g := range m.guards {
		if now := m.findLocked(g.Key); now == nil || now.Revision != g.Revision {
			return 0, &storage.Error{Kind: storage.Changed, Key: g.Key, Revision: g.Revision, Current: now}
		}
	}
	switch current := m.findLocked(key); {
	case rev == 0 && current != nil:
		return 0, &storage.Error{Kind: storage.Exists, Key: key, Current: current}
	case rev != 0 && current == nil:
		return 0, &storage.Error{Kind: storage.NotFound, Key: key, Revision: rev}
	case rev != 0 && current.Revision != rev:
		return 0, &storage.Error{Kind: storage.Conflict, Key: key, Revision: rev, Current: current}
	}
	rev = m.commitLocked(append([]storage.Event{ev}, m.along...)...)
	if ttl > 0 {
		time.AfterFunc(ttl, func() { m.expire(key, rev) })
	}
	return rev, nil
}

func (m *Memory) expire(key string, rev int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kv := m.findLocked(key); kv != nil && kv.Revision == rev {
		m.commitLocked(storage.Event{KV: storage.KV{Key: key}, Deleted: true})
	}
}

// RequestProgress implements storage.Watcher.
func (m *Memory) RequestProgress(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	m.wakeLocked()
	return m.beginLocked(ctx)
}

var errBroken = errors.New("watch broken by the test")

// Watch implements storage.Watcher.
func (m *Memory) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	out := make(chan storage.Batch)
	var mu sync.Mutex
	var reason error
	m.mu.Lock()
	w := &memoryWatch{m: m, prefix: prefix, next: max(from, 1), asked: m.asked, broken: m.broken}
	m.mu.Unlock()
	go func() {
		defer close(out)
		for {
			b, more, err := w.step(ctx)
			if err != nil {
				mu.Lock()
				reason = err
				mu.Unlock()
				return
			}
			if b.Revision > 0 {
				select {
				case out <- b:
				case <-ctx.Done():
				case <-w.broken:
				}
			}
			select {
			case <-more:
			case <-ctx.Done():
			case <-w.broken:
			}
		}
	}()
	return out, func() error {
		mu.Lock()
		defer mu.Unlock()
		return reason
	}
}

// memoryWatch is one watch's place in the log.
type memoryWatch struct {
	m      *Memory
	prefix string
	next   int64 // revision to send next
	index  int   // log entries looked at
	asked  int64
	broken chan struct{}
}

// step returns what is new, and a channel that is closed when more is.
func (w *memoryWatch) step(ctx context.Context) (storage.Batch, <-chan struct{}, error) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if err := w.m.beginLocked(ctx); err != nil {
		return storage.Batch{}, nil, err
	}
	select {
	case <-w.broken:
		return storage.Batch{}, nil, &storage.Error{Kind: storage.Unavailable, Cause: errBroken}
	default:
	}
	if w.next < w.m.compacted {
		return storage.Batch{}, nil, &storage.Error{Kind: storage.Compacted, Revision: w.next}
	}
	var b storage.Batch
	for ; w.index < len(w.m.log); w.index++ {
		ev := w.m.log[w.index]
		if ev.Revision >= w.next && strings.HasPrefix(ev.Key, w.prefix) {
			b.Events = append(b.Events, ev)
			b.Revision = ev.Revision
		}
	}
	if len(b.Events) == 0 && w.asked < w.m.asked && w.next <= w.m.rev+1 {
		b.Revision = w.m.rev
	}
	w.asked = w.m.asked
	w.next = max(w.next, w.m.rev+1)
	return b, w.m.changed, nil
}
