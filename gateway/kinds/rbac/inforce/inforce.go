// Package inforce owns the roles and bindings that are in force in this process: those
// that the cache holds.
//
// It must not know what they allow.
package inforce

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	compiler rbac.Compiler
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
	var written, gone rbac.Objects
	s.clusterRoles.changed(now[0], s.log, &written.ClusterRoles, &gone.ClusterRoles)
	s.roles.changed(now[1], s.log, &written.Roles, &gone.Roles)
	s.clusterBindings.changed(now[2], s.log, &written.ClusterRoleBindings, &gone.ClusterRoleBindings)
	s.bindings.changed(now[3], s.log, &written.RoleBindings, &gone.RoleBindings)
	next := &compiled{from: now, policy: s.compiler.Update(written, gone)}
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
	of       map[string]*T // by key, those that can be read
}

func (k *kind[T]) now() (s watchcache.Snapshot[*view.Entry]) {
	if k.resource == nil {
		return s
	}
	return k.resource.Bucket().Snapshot()
}

// changed reads what changed since it was last asked. An object that cannot be read
// allows nothing, as somebody else has to mend it in the store.
func (k *kind[T]) changed(now watchcache.Snapshot[*view.Entry], log zerolog.Logger, written, gone *[]*T) {
	if k.resource == nil {
		return
	}
	if k.of == nil {
		k.of = map[string]*T{}
	}
	now.Changed(k.from, func(was, is *watchcache.Item[*view.Entry]) {
		if is != nil {
			one, err := k.decode(is)
			if err == nil {
				k.of[is.Key] = one
				*written = append(*written, one)
				return
			}
			log.Error().Err(err).Str("kind", k.resource.Def.Kind).Str("name", is.Key).Msg("what it allows is not allowed: it cannot be read")
			was = is
		}
		if one := k.of[was.Key]; one != nil {
			delete(k.of, was.Key)
			*gone = append(*gone, one)
		}
	})
	k.from = now
}

func (k *kind[T]) decode(it *watchcache.Item[*view.Entry]) (*T, error) {
	// What was begun has to end, whoever waits: the next request needs it too.
	data, err := k.resource.View(context.Background(), it.Value, k.resource.Def.StorageVersion)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		return nil, err
	}
	if o := any(out).(metav1.Object); path.Join(o.GetNamespace(), o.GetName()) != it.Key {
		return nil, fmt.Errorf("it says that it is %q of namespace %q", o.GetName(), o.GetNamespace())
	}
	return out, nil
}
