package quota

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/admission/plugin/resourcequota"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

var kind = schema.GroupResource{Resource: "resourcequotas"}

// Quotas are those in force. Writes in one namespace that are charged take
// turns, as each has to know what the one before used; others do not wait.
type Quotas struct {
	kind    *catalog.Resource
	limited resourcequota.Limited

	mu sync.Mutex
	// spaces are the namespaces in which writes are being charged.
	spaces map[string]*space
}

var _ resource.Accounts = &Quotas{}

// New finds the quotas; nil where that kind is not served. What is limited is refused
// unless one of them covers it.
func New(c *catalog.Catalog, limited resourcequota.Limited) *Quotas {
	served := c.Snapshot().Resource(kind)
	if served == nil {
		return nil
	}
	return &Quotas{kind: served, limited: limited, spaces: map[string]*space{}}
}

// Name implements [admission.Plugin].
func (*Quotas) Name() string { return order.ResourceQuota }

// Open implements [resource.Accounts].
func (q *Quotas) Open(ctx context.Context, a admission.Attributes) (resource.Account, error) {
	now, gr := q.kind.Bucket().Snapshot(), a.GetResource().GroupResource()
	limited := q.limited.About(gr)
	if now.Len() == 0 && !limited || !resourcequota.Handles(gr, a.GetOperation(), a.GetSubresource()) {
		return nil, nil
	}
	if a.GetNamespace() == "" || len(within(now, a.GetNamespace())) == 0 && !limited {
		return nil, nil
	}
	out, err := newAccount(ctx, q, a)
	if out == nil || err != nil {
		return nil, err
	}
	if !a.IsDryRun() {
		if out.space, err = q.enter(ctx, a.GetNamespace()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// within are the quotas of a namespace that the cache has.
func within(s watchcache.Snapshot[*view.Entry], namespace string) (out []watchcache.Item[*view.Entry]) {
	s.Ascend(catalog.JoinKey(namespace, ""), "", func(it watchcache.Item[*view.Entry]) bool {
		out = append(out, it)
		return true
	})
	return out
}

// space is a namespace in which writes are charged, one after the other.
type space struct {
	turn  chan struct{} // holds one value while a write has its turn
	users int
	// last are the states of quotas, by their keys in the store, that writes
	// here made or met, which the cache may not have yet. Who has the turn uses
	// it.
	last map[string]*view.Entry
}

// enter waits for a write's turn in a namespace.
func (q *Quotas) enter(ctx context.Context, namespace string) (*space, error) {
	q.mu.Lock()
	s := q.spaces[namespace]
	if s == nil {
		s = &space{turn: make(chan struct{}, 1), last: map[string]*view.Entry{}}
		q.spaces[namespace] = s
	}
	s.users++
	q.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		return s, nil
	case <-ctx.Done():
		q.forget(namespace, s)
		return nil, apierrors.NewTimeoutError("the quotas of the namespace were in use by other writes all the time", 1)
	}
}

// leave ends a turn.
func (q *Quotas) leave(namespace string, s *space) {
	<-s.turn
	q.forget(namespace, s)
}

// forget drops a namespace that nobody waits for: what the cache does not have
// yet, the next write is told by the store.
func (q *Quotas) forget(namespace string, s *space) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(q.spaces, namespace)
	}
}
