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

// lookupFor is how a call finds objects that were granted to the module, among those
// that there are; nil if it may not.
func (r *Registry) lookupFor(name string, there plugins.Lookup) plugins.Lookup {
	if there == nil {
		return nil
	}
	return func(ctx context.Context, o plugins.Object) ([]byte, error) {
		data, err := r.find(ctx, name, o, there)
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

func (r *Registry) find(ctx context.Context, name string, o plugins.Object, there plugins.Lookup) ([]byte, error) {
	grants, _ := r.grants.Load(name)
	all, _ := grants.([]plugins.Grant)
	if !plugins.Granted(all, o) {
		return nil, fmt.Errorf("%s is not granted to the module %s by spec.grants", o, name)
	}
	return there(ctx, o)
}
