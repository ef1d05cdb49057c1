package catalog

import "context"

// showing is what watchers see of a custom resource: one form of it, or several that
// differ only in whether they take new objects.
type showing struct {
	// over is closed when another form is shown, or none.
	over chan struct{}
	// until is the revision at which the definition was removed, what happened before
	// which is still to be told; 0 while it goes on, and where another form is shown.
	until int64
}

// Shown is closed when watchers have to end: another form of the resource is served that
// shows objects otherwise, or none; it is nil for built-in kinds.
func (r *Resource) Shown() <-chan struct{} {
	if r.showing == nil {
		return nil
	}
	return r.showing.over
}

// StillShown waits like [Catalog.InForce] until it is known what became of r's definition,
// and fails with [ErrReplaced] when another form of the resource is shown. When it was
// removed, until is the revision of that, what happened after which is not for watchers
// of r; otherwise it is 0.
func (c *Catalog) StillShown(ctx context.Context, r *Resource) (until int64, err error) {
	if r.showing == nil {
		return 0, nil
	}
	if err := c.settled(ctx, r); err != nil {
		return 0, err
	}
	select {
	case <-r.showing.over:
		if r.showing.until == 0 {
			return 0, ErrReplaced
		}
		return r.showing.until, nil
	default:
		return 0, nil
	}
}
