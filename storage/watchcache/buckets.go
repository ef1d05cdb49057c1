package watchcache

import (
	"maps"
	"sync"
	"sync/atomic"
	"weak"
)

// buckets are all buckets of a cache, by name. Who reads takes no lock unless
// there is no such bucket yet.
type buckets[T any] struct {
	// What follows is what each bucket is told of the cache.
	progress   *progress
	compaction *compaction
	history    *history[T]

	all atomic.Pointer[map[string]*Bucket[T]]
	// mu is held while a bucket is added or removed and while all are replaced,
	// and guards the fields below. base is the revision since which an unknown
	// bucket is empty; resting are the buckets that are kept only as long as
	// somebody holds them.
	mu      sync.Mutex
	base    int64
	resting map[string]rest[T]
}

// present are the buckets that there are.
func (s *buckets[T]) present() map[string]*Bucket[T] { return *s.all.Load() }

// get is [Cache.Bucket].
func (s *buckets[T]) get(name string) *Bucket[T] {
	if b := s.present()[name]; b != nil {
		return b
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.present()
	if b := old[name]; b != nil {
		return b
	}
	next := make(map[string]*Bucket[T], len(old)+1)
	maps.Copy(next, old)
	b := s.wakeLocked(name)
	if b == nil {
		b = s.empty(name, s.base)
	}
	next[name] = b
	s.all.Store(&next)
	return b
}

// empty makes a bucket that holds nothing as of rev.
func (s *buckets[T]) empty(name string, rev int64) *Bucket[T] {
	b := &Bucket[T]{name: name, progress: s.progress, compaction: s.compaction, history: s.history}
	b.install(0, &state[T]{rev: rev})
	return b
}

// replace makes the content read at rev that of all buckets, and says that rev
// is reached.
func (s *buckets[T]) replace(all content[T], rev int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = rev
	next := maps.Clone(s.present())
	for name := range s.resting {
		if b := s.wakeLocked(name); b != nil {
			next[name] = b
		}
	}
	for name, b := range next {
		b.reset(&state[T]{rev: rev, root: build(all[name])})
		delete(all, name)
	}
	for name, items := range all {
		b := s.empty(name, rev)
		b.install(0, &state[T]{rev: rev, root: build(items)})
		next[name] = b
	}
	s.all.Store(&next)
	s.progress.rev.Store(rev)
	s.progress.moved.notify()
}

// rest is a bucket that has neither items nor events, such as that of a
// resource that is gone. Whoever still holds it finds it in order, since it
// comes back with the first event; when nobody does it goes.
type rest[T any] struct {
	bucket  weak.Pointer[Bucket[T]]
	horizon int64 // the revision of the last event it had
}

// rest lays empty buckets to rest and forgets those that nobody holds.
func (s *buckets[T]) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.resting {
		if r.bucket.Value() == nil {
			delete(s.resting, name)
			s.base = max(s.base, r.horizon)
		}
	}
	all := s.present()
	var left map[string]*Bucket[T]
	for name, b := range all {
		if b.pending != nil || b.total > 0 {
			continue
		}
		if left == nil {
			left = maps.Clone(all)
		}
		delete(left, name)
		s.resting[name] = rest[T]{bucket: weak.Make(b), horizon: b.ring.Load().horizon}
	}
	if left != nil {
		s.all.Store(&left)
	}
}

// wakeLocked returns the resting bucket of the name, which rests no more, or
// nil. Whoever calls it holds mu.
func (s *buckets[T]) wakeLocked(name string) *Bucket[T] {
	r, ok := s.resting[name]
	if !ok {
		return nil
	}
	delete(s.resting, name)
	b := r.bucket.Value()
	if b == nil {
		s.base = max(s.base, r.horizon)
	}
	return b
}
