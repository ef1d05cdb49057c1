package admitting

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/admission/webhook"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
)

// fixed is what is made of the folder of a plugin, which no request changes.
type fixed[S any] struct {
	folder  *guards.Folder
	compile func(*guards.State) S
	current atomic.Pointer[made[S]]
}

type made[S any] struct {
	from *guards.State
	all  S
}

// now is what the folder says. Two requests may compile the same, and either result is
// as good.
func (f *fixed[S]) now() S {
	from := f.folder.Current()
	if m := f.current.Load(); m != nil && m.from == from {
		return m.all
	}
	m := &made[S]{from, f.compile(from)}
	f.current.Store(m)
	return m.all
}

// compiledOf is what is made of the objects of a kind. What was checked when it was read
// is compiled as what is stored is.
func compiledOf[T, S any](s *guards.State, kind string, h how[T, S]) (all []T) {
	for _, o := range s.Of(kind) {
		data, err := json.Marshal(o.Object)
		var one T
		if err == nil {
			one, err = h.compile(data)
		}
		if err != nil {
			one = h.refuse(o.GetName(), err)
		}
		all = append(all, one)
	}
	return all
}

// fixedPolicies are the policies of a folder, with the bindings and parameters in it.
func fixedPolicies[P policy.Compiled](folder *guards.Folder, kind string, policies how[P, []P], bindings how[*policy.Binding, []*policy.Binding]) *fixed[*policy.Set[P]] {
	return &fixed[*policy.Set[P]]{folder: folder, compile: func(s *guards.State) *policy.Set[P] {
		return policy.NewSet(compiledOf(s, kind, policies), compiledOf(s, kind+"Binding", bindings), s, policies.refuse)
	}}
}

// fixedHooks are the webhooks of a folder.
func fixedHooks(folder *guards.Folder, kind string, h how[[]*webhook.Hook, *webhook.Set]) *fixed[*webhook.Set] {
	return &fixed[*webhook.Set]{folder: folder, compile: func(s *guards.State) *webhook.Set {
		return h.all(compiledOf(s, kind, h))
	}}
}

// set is of policies or webhooks.
type set[T any] interface {
	About(admission.Resource) []T
}

// both are those of a folder, which come first, and, unless the request is exempt from
// them, those of the API that may match it; nil when there are none.
func both[T any](fixed set[T], a admission.Attributes, exempt bool, others func() []T) []T {
	if found(a) {
		return nil
	}
	first := fixed.About(a)
	if exempt {
		return first
	}
	switch rest := others(); {
	case len(first) == 0:
		return rest
	case len(rest) == 0:
		return first
	default:
		return slices.Concat(first, rest)
	}
}
