// Package inforce owns the roles and bindings that are in force in this process: those
// that the cache holds.
//
// It must not know what they allow.
package inforce

import (
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/authz/rbac"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/typed"
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

	clusterRoles    typed.Kind[rbacv1.ClusterRole]
	roles           typed.Kind[rbacv1.Role]
	clusterBindings typed.Kind[rbacv1.ClusterRoleBinding]
	bindings        typed.Kind[rbacv1.RoleBinding]

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
	for i, to := range []**catalog.Resource{&s.clusterRoles.Resource, &s.roles.Resource, &s.clusterBindings.Resource, &s.bindings.Resource} {
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
	s.clusterRoles.Changed(now[0], s.unreadable, &written.ClusterRoles, &gone.ClusterRoles)
	s.roles.Changed(now[1], s.unreadable, &written.Roles, &gone.Roles)
	s.clusterBindings.Changed(now[2], s.unreadable, &written.ClusterRoleBindings, &gone.ClusterRoleBindings)
	s.bindings.Changed(now[3], s.unreadable, &written.RoleBindings, &gone.RoleBindings)
	next := &compiled{from: now, policy: s.compiler.Update(written, gone)}
	s.current.Store(next)
	return next.policy
}

func (s *Source) now() state {
	return state{s.clusterRoles.Now(), s.roles.Now(), s.clusterBindings.Now(), s.bindings.Now()}
}

// unreadable is told of an object that cannot be read. It allows nothing, as somebody else
// has to mend it in the store.
func (s *Source) unreadable(kind, name string, err error) {
	s.log.Error().Err(err).Str("kind", kind).Str("name", name).Msg("what it allows is not allowed: it cannot be read")
}
