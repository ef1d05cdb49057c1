// Package inforce owns the roles and bindings that are in force in this process: those
// that the cache holds.
//
// It must not know what they allow.
package inforce

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/authz/rbac"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Kinds are the plurals of the kinds that a policy is made of, all of the group
// rbac.authorization.k8s.io.
var Kinds = []string{"clusterroles", "roles", "clusterrolebindings", "rolebindings"}

// Source keeps the policy current. It follows the cache without a goroutine: whoever
// asks compares what was compiled with what the cache holds, which is a pointer for each
// kind. It is safe for concurrent use.
type Source struct {
	ready <-chan struct{}
	log   zerolog.Logger

	clusterRoles    kind[rbacv1.ClusterRole]
	roles           kind[rbacv1.Role]
	clusterBindings kind[rbacv1.ClusterRoleBinding]
	bindings        kind[rbacv1.RoleBinding]

	current  atomic.Pointer[compiled]
	changing sync.Mutex
}

// state is the objects of all [Kinds] at one moment.
type state [4]watchcache.Snapshot[*view.Entry]

func (s *state) same(other *state) bool {
	for i := range s {
		if !s[i].Same(other[i]) {
			return false
		}
	}
	return true
}

type compiled struct {
	from   state
	policy *rbac.Policy
}

// New makes the source of what c serves. A kind that is not served has no objects.
func New(c *catalog.Catalog, log zerolog.Logger) *Source {
	s := &Source{ready: c.Ready(), log: log.With().Str("component", "rbac").Logger()}
	snapshot := c.Snapshot()
	for i, to := range []**catalog.Resource{&s.clusterRoles.resource, &s.roles.resource, &s.clusterBindings.resource, &s.bindings.resource} {
		*to = snapshot.Resource(schema.GroupResource{Group: rbacv1.GroupName, Resource: Kinds[i]})
	}
	return s
}

// Policy implements [rbac.Source]: it is that of the objects that the cache holds now,
// the same as before while none changes.
func (s *Source) Policy() *rbac.Policy {
	select {
	case <-s.ready:
	default:
		return nil
	}
	now := s.now()
	if c := s.current.Load(); c != nil && c.from.same(&now) {
		return c.policy
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	was, now := s.current.Load(), s.now()
	if was != nil && was.from.same(&now) {
		return was.policy
	}
	next := &compiled{from: now, policy: rbac.Compile(rbac.Objects{
		ClusterRoles: s.clusterRoles.read(now[0], s.log), Roles: s.roles.read(now[1], s.log),
		ClusterRoleBindings: s.clusterBindings.read(now[2], s.log), RoleBindings: s.bindings.read(now[3], s.log),
	})}
	s.current.Store(next)
	return next.policy
}

func (s *Source) now() state {
	return state{s.clusterRoles.now(), s.roles.now(), s.clusterBindings.now(), s.bindings.now()}
}

// kind is the objects of one kind, as T.
type kind[T any] struct {
	resource *catalog.Resource // nil where it is not served
	from     watchcache.Snapshot[*view.Entry]
	// of is what was read of each object, and all that in order.
	of  map[*view.Entry]*T
	all []*T
}

func (k *kind[T]) now() (s watchcache.Snapshot[*view.Entry]) {
	if k.resource == nil {
		return s
	}
	return k.resource.Bucket().Snapshot()
}

// read decodes what changed. An object that cannot be read allows nothing, as somebody
// else has to mend it in the store.
func (k *kind[T]) read(now watchcache.Snapshot[*view.Entry], log zerolog.Logger) []*T {
	if k.resource == nil || k.of != nil && k.from.Same(now) {
		return k.all
	}
	of := make(map[*view.Entry]*T, now.Len())
	all := make([]*T, 0, now.Len())
	now.Ascend("", "", func(it watchcache.Item[*view.Entry]) bool {
		one, known := k.of[it.Value]
		if !known {
			var err error
			if one, err = k.decode(it.Value); err != nil {
				log.Error().Err(err).Str("kind", k.resource.Def.Kind).Str("name", it.Key).Msg("what it allows is not allowed: it cannot be read")
			}
		}
		of[it.Value] = one
		if one != nil {
			all = append(all, one)
		}
		return true
	})
	k.from, k.of, k.all = now, of, all
	return all
}

func (k *kind[T]) decode(e *view.Entry) (*T, error) {
	// What was begun has to end, whoever waits: the next request needs it too.
	data, err := k.resource.View(context.Background(), e, k.resource.Def.StorageVersion)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		return nil, err
	}
	return out, nil
}
