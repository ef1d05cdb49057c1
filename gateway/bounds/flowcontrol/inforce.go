package flowcontrol

import (
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	fcv1 "k8s.io/api/flowcontrol/v1"

	"github.com/wasmgate/wasmgate/gateway/bounds/flow"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/typed"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// InForce is flow control by the objects that the cache holds. It follows these without
// a goroutine, as roles are followed: whoever asks compares two pointers. It is safe for
// concurrent use.
type InForce struct {
	ready   <-chan struct{}
	log     zerolog.Logger
	control *flow.Control

	schemas typed.Kind[fcv1.FlowSchema]
	levels  typed.Kind[fcv1.PriorityLevelConfiguration]

	current  atomic.Pointer[state]
	changing sync.Mutex
}

// state is the objects of both kinds at one moment.
type state struct {
	schemas, levels watchcache.Snapshot[*view.Entry]
}

func (s *state) same(other state) bool {
	return s.schemas.Same(other.schemas) && s.levels.Same(other.levels)
}

// NewInForce makes what is in force of so many seats, by what c serves.
func NewInForce(c *catalog.Catalog, seats int, log zerolog.Logger) *InForce {
	f := &InForce{ready: c.Ready(), log: log, control: flow.New(seats)}
	f.schemas.Resource = c.Snapshot().Resource(gvr.FlowSchemas)
	f.levels.Resource = c.Snapshot().Resource(gvr.PriorityLevels)
	return f
}

// Control is what is in force now.
func (f *InForce) Control() *flow.Control {
	select {
	case <-f.ready:
	default:
		return f.control // by the objects that there have to be at least
	}
	if was := f.current.Load(); was != nil && was.same(f.now()) {
		return f.control
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	now := f.now()
	if was := f.current.Load(); was != nil && was.same(now) {
		return f.control
	}
	var schemas []*fcv1.FlowSchema
	var levels []*fcv1.PriorityLevelConfiguration
	f.schemas.Changed(now.schemas, f.unreadable, &schemas, &schemas)
	f.levels.Changed(now.levels, f.unreadable, &levels, &levels)
	f.control.Update(f.schemas.All(), f.levels.All())
	f.current.Store(&now)
	return f.control
}

func (f *InForce) now() state { return state{f.schemas.Now(), f.levels.Now()} }

// unreadable is told of an object that cannot be read, which is as good as none.
func (f *InForce) unreadable(kind, name string, err error) {
	f.log.Error().Err(err).Str("kind", kind).Str("name", name).Msg("it is not in force: it cannot be read")
}
