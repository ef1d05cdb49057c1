package write

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// final wraps an error that came from the store's answer to a write, or after
// it. What was asked for may have happened: it is not to be tried again.
type final struct {
	error
	nothing bool // was committed, as the store said
}

// redefined tells that the definition has another revision than the one that
// the resource stood for, or is gone; nothing was written.
type redefined struct {
	since int64
	gone  bool
}

func (*redefined) Error() string { return "the definition changed" }

// errUnclaimed tells that what the write claimed was not its any more; nothing
// was written.
var errUnclaimed = errors.New("the write took longer than its claims")

// superseded tells that somebody else wrote first, and what.
type superseded struct{ by read.Origin }

// present is what is there now; nothing, where that is not known.
func (s superseded) present() bool { return s.by.Entry != nil }

func (superseded) Error() string { return "somebody else wrote first" }

// maxAttempts bounds how often a write without a resourceVersion is tried
// again against other writers.
const maxAttempts = 100

// run carries a write out against the state that is known: against newer ones
// as long as somebody else writes first, and against the store's own when it
// was refused on a cached one, which may be behind.
func (w *Write) run(ctx context.Context) (*resource.Written, error) {
	if err := w.Resource.Current(); err != nil {
		return nil, err
	}
	defer func() { w.claims.release(ctx, w.writer) }()
	if tell := w.Options.Warn; tell != nil {
		w.Options.Warn = w.warn
		defer w.tellWarned(tell)
	}
	from, err := start(ctx, w.writer.reads, &w.request)
	for range maxAttempts {
		if err != nil {
			return nil, err
		}
		w.begin(from)
		refused := w.attempt(ctx)
		w.settle(ctx, refused)
		var done final
		var lost superseded
		var changed *redefined
		switch {
		case refused == nil:
			return w.out, nil
		case errors.As(refused, &lost) && lost.present():
			from = lost.by
		case errors.As(refused, &lost):
			from, err = current(ctx, w.writer.reads, &w.request, true)
		case errors.Is(refused, catalog.ErrReplaced):
			return nil, refused
		case errors.Is(refused, errUnclaimed):
			w.claims.release(ctx, w.writer)
		case errors.As(refused, &changed):
			err = w.writer.catalog.AwaitRedefined(ctx, w.Resource, changed.since, changed.gone)
		case errors.As(refused, &done):
			return nil, done.error
		case from.Entry == nil || from.Live || ctx.Err() != nil:
			err = w.confirmed(ctx, refused)
		default:
			stale := from.Revision
			if from, err = current(ctx, w.writer.reads, &w.request, true); err == nil && from.Entry != nil && from.Revision == stale {
				err = w.confirmed(ctx, refused)
			}
		}
	}
	return nil, apierrors.NewConflict(w.GroupResource(), w.Name, resource.ErrModified)
}

// confirmed is a refusal by the definition in force, and nil where it was by another one
// and is to be tried again. Who came too late is refused by any.
func (w *Write) confirmed(ctx context.Context, refused error) error {
	if ctx.Err() != nil || apierrors.IsConflict(refused) || apierrors.IsAlreadyExists(refused) {
		return refused
	}
	err := w.writer.inForce(ctx, w.Target)
	var changed *redefined
	switch {
	case err == nil:
		return refused
	case errors.As(err, &changed):
		return w.writer.catalog.AwaitRedefined(ctx, w.Resource, changed.since, changed.gone)
	}
	return err
}

// warn keeps a warning for the end.
func (w *Write) warn(text string) { w.warned = append(w.warned, text) }

// tellWarned tells the client what it is warned of by the last attempt: others were about a
// state that is not there any more.
func (w *Write) tellWarned(tell func(text string)) {
	for _, text := range w.warned {
		tell(text)
	}
}

// begin forgets what an earlier attempt did.
func (w *Write) begin(from read.Origin) {
	operation := w.operation
	switch {
	case operation == admission.Delete:
	case from.Entry == nil:
		operation = admission.Create
	default:
		operation = admission.Update
	}
	w.progress = progress{operation: operation, from: from, present: present{of: w.Target, entry: from.Entry}}
}

// inTime refuses to go on for a client that has left, or whose time is over: what
// judged the write may have been broken off.
func inTime(ctx context.Context) error {
	if ctx.Err() != nil {
		return view.ErrTimeout()
	}
	return nil
}

func inOrder(ctx context.Context, stages ...func(context.Context) error) error {
	for _, stage := range stages {
		if err := stage(ctx); err != nil {
			return err
		}
	}
	return nil
}
