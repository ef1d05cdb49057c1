package modules

// Left is closed when the load of a module that was left alone has ended; it is
// nil when there is none.
func Left(r *Registry, name string) <-chan struct{} {
	if l := r.loads.left(name); l != nil {
		return l.done
	}
	return nil
}
