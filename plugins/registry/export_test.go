package registry

import "github.com/wasmgate/wasmgate/plugins"

// Left is closed when the load of a module that was left alone has ended; it is
// nil when there is none.
func Left(r *Registry, name string) <-chan struct{} {
	if l := r.loads.left(name); l != nil {
		return l.done
	}
	return nil
}

// Find is how a call of a hook that admits finds objects for a module.
func Find(r *Registry, name string, there plugins.Lookup) plugins.Lookup {
	return r.lookupFor(name, there)
}
