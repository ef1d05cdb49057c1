package write

import (
	"context"
	"errors"
)

// undoing is what takes back what was written for a write before it was decided on.
type undoing []func(ctx context.Context)

// Undo implements [admission.Taking].
func (w attributes) Undo(undo func(ctx context.Context)) { w.undo = append(w.undo, undo) }

// settle ends an attempt at a write, which ended with an error or nil: where certainly
// nothing was committed, what was written for it is taken back, the last first.
func (w *Write) settle(ctx context.Context, refused error) {
	all := w.undo
	w.undo = nil
	var done final
	if len(all) == 0 || refused == nil || errors.As(refused, &done) && !done.nothing {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	for i := len(all) - 1; i >= 0; i-- {
		all[i](ctx)
	}
}
