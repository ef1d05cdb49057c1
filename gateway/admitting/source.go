package admitting

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// source keeps what is made of one kind of object current: a T of each, and an
// S of all. It follows the cache without a goroutine: whoever writes compares
// what was compiled with what the cache holds, which is one pointer, and
// compiles what changed.
type source[T, S any] struct {
	kind *catalog.Resource
	how  how[T, S]
	log  zerolog.Logger

	current  atomic.Pointer[compiled[T, S]]
	changing sync.Mutex
}

// how tells what is made of objects.
type how[T, S any] struct {
	// compile makes a T of an object as JSON.
	compile func(data []byte) (T, error)
	// refuse makes one that refuses every write, of an object that cannot be
	// read.
	refuse func(name string, cause error) T
	// all makes an S.
	all func([]T) S
}

// compiled is everything made of one state of the cache. It is immutable.
type compiled[T, S any] struct {
	from watchcache.Snapshot[*view.Entry]
	all  S
	// of is what was made of each object, to be used again when it is another
	// that changes.
	of map[*view.Entry]T
}

func newSource[T, S any](c *catalog.Catalog, plural string, log zerolog.Logger, how how[T, S]) *source[T, S] {
	kind := c.Snapshot().Resource(schema.GroupResource{Group: admissionv1.GroupName, Resource: plural})
	return &source[T, S]{kind: kind, how: how, log: log.With().Str("kind", plural).Logger()}
}

// now is what the cache holds; nil when that is nothing.
func (s *source[T, S]) now(ctx context.Context) *compiled[T, S] {
	now := s.kind.Bucket().Snapshot()
	if now.Len() == 0 {
		return nil
	}
	if c := s.current.Load(); c != nil && c.from.Same(now) {
		return c
	}
	return s.renew(ctx)
}

// renew compiles what the cache holds now.
func (s *source[T, S]) renew(ctx context.Context) *compiled[T, S] {
	s.changing.Lock()
	defer s.changing.Unlock()
	was, now := s.current.Load(), s.kind.Bucket().Snapshot()
	if was != nil && was.from.Same(now) {
		return was
	}
	next := &compiled[T, S]{from: now, of: map[*view.Entry]T{}}
	var all []T
	now.Ascend("", "", func(it watchcache.Item[*view.Entry]) bool {
		one, known := was.made(it.Value)
		if !known {
			one = s.read(ctx, it)
		}
		next.of[it.Value] = one
		all = append(all, one)
		return true
	})
	next.all = s.how.all(all)
	s.current.Store(next)
	return next
}

func (c *compiled[T, S]) made(e *view.Entry) (one T, known bool) {
	if c == nil {
		return one, false
	}
	one, known = c.of[e]
	return one, known
}

// read compiles one object. One that cannot be read refuses all writes, as
// whoever relies on it would want: it has to be mended in the store.
func (s *source[T, S]) read(ctx context.Context, it watchcache.Item[*view.Entry]) T {
	// What was begun has to end, whoever waits: the next write needs it too.
	data, err := s.kind.View(context.WithoutCancel(ctx), it.Value, s.kind.Def.StorageVersion)
	var one T
	if err == nil {
		one, err = s.how.compile(data)
	}
	if err != nil {
		s.log.Error().Err(err).Str("name", it.Key).Msg("writes are refused: what is to be asked about them cannot be read")
		return s.how.refuse(it.Key, err)
	}
	return one
}
