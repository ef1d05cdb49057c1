package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wasmgate/wasmgate/plugins"
)

// Grant lets a module look objects up from now on, and nothing else. It is about
// the name and not about a revision: what is taken back is taken back at once,
// whatever serves.
func (r *Registry) Grant(name string, grants []plugins.Grant) {
	if len(grants) == 0 {
		r.grants.Delete(name)
		return
	}
	r.grants.Store(name, slices.Clone(grants))
}

// lookupFor is how a call of a hook finds objects; nil if it may not. What a
// conversion gives depends on the object alone, so only admission may.
func (r *Registry) lookupFor(name string, hook plugins.Hook) plugins.Lookup {
	if hook != plugins.Admit {
		return nil
	}
	return func(ctx context.Context, o plugins.Object) ([]byte, error) {
		data, err := r.find(ctx, name, o)
		outcome := "found"
		switch {
		case errors.Is(err, plugins.ErrNoObject):
			outcome = "none"
		case err != nil:
			outcome = "refused"
		}
		if r.cfg.Looked != nil {
			r.cfg.Looked(name, outcome)
		}
		return data, err
	}
}

func (r *Registry) find(ctx context.Context, name string, o plugins.Object) ([]byte, error) {
	grants, _ := r.grants.Load(name)
	all, _ := grants.([]plugins.Grant)
	if !plugins.Granted(all, o) {
		return nil, fmt.Errorf("%s is not granted to the module %s by spec.grants", o, name)
	}
	if r.cfg.Lookup == nil {
		return nil, plugins.ErrNoObject
	}
	return r.cfg.Lookup(ctx, o)
}
