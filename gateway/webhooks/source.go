package webhooks

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// source keeps the webhooks of one kind of configuration current. It follows
// the cache without a goroutine: whoever writes compares what was compiled with
// what the cache holds, which is one pointer, and compiles what changed.
type source struct {
	kind     *catalog.Resource
	compile  func(data []byte) ([]*admission.Hook, error)
	mutating bool
	log      zerolog.Logger
	current  atomic.Pointer[compiled]
	changing sync.Mutex
}

// compiled is everything made of one state of the cache.
type compiled struct {
	from watchcache.Snapshot[*catalog.Entry]
	set  *admission.Set
	// hooks are those of each configuration, to be used again when it is
	// another that changes.
	hooks map[*catalog.Entry][]*admission.Hook
}

func newSource(c *catalog.Catalog, plural string, mutating bool, log zerolog.Logger, compile func(data []byte) ([]*admission.Hook, error)) *source {
	kind := c.Snapshot().Resource(schema.GroupResource{Group: admissionv1.GroupName, Resource: plural})
	return &source{kind: kind, compile: compile, mutating: mutating, log: log.With().Str("kind", plural).Logger()}
}

// about are the webhooks that may match a write; nil when there are none.
func (s *source) about(ctx context.Context, w *resource.Write) []*admission.Hook {
	now := s.kind.Bucket().Snapshot()
	if now.Len() == 0 || exempt(w.Resource.GroupResource()) {
		return nil
	}
	c := s.current.Load()
	if c == nil || !c.from.Same(now) {
		c = s.renew(ctx)
	}
	return c.set.About(w.Resource.GroupResource())
}

// renew compiles what the cache holds now.
func (s *source) renew(ctx context.Context) *compiled {
	s.changing.Lock()
	defer s.changing.Unlock()
	was, now := s.current.Load(), s.kind.Bucket().Snapshot()
	if was != nil && was.from.Same(now) {
		return was
	}
	next := &compiled{from: now, hooks: map[*catalog.Entry][]*admission.Hook{}}
	var all []*admission.Hook
	now.Ascend("", "", func(it watchcache.Item[*catalog.Entry]) bool {
		hooks, known := was.of(it.Value)
		if !known {
			hooks = s.read(ctx, it)
		}
		next.hooks[it.Value] = hooks
		all = append(all, hooks...)
		return true
	})
	next.set = admission.NewSet(all)
	s.current.Store(next)
	return next
}

func (c *compiled) of(e *catalog.Entry) ([]*admission.Hook, bool) {
	if c == nil {
		return nil, false
	}
	hooks, ok := c.hooks[e]
	return hooks, ok
}

// read compiles one configuration. One that cannot be read refuses all writes,
// as whoever relies on it would want: it has to be mended in the store.
func (s *source) read(ctx context.Context, it watchcache.Item[*catalog.Entry]) []*admission.Hook {
	// What was begun has to end, whoever waits: the next write needs it too.
	data, err := s.kind.View(context.WithoutCancel(ctx), it.Value, s.kind.Def.StorageVersion)
	var hooks []*admission.Hook
	if err == nil {
		hooks, err = s.compile(data)
	}
	if err != nil {
		s.log.Error().Err(err).Str("name", it.Key).Msg("writes are refused: a configuration of webhooks cannot be read")
		return []*admission.Hook{admission.Unusable(it.Key, s.mutating, err)}
	}
	return hooks
}
