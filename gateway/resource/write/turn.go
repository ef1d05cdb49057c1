package write

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// heavy is from how many bytes on an object is large: about a millisecond of work.
const heavy = 32 << 10

// inTurn does the stages of a write in a turn, where its object is large. Where another
// version has to be converted a module works, which may take its time and has bounds of
// its own.
func (w *Write) inTurn(ctx context.Context, stages ...func(context.Context) error) error {
	turns := w.writer.o.Turns
	if turns == nil || !w.Version.Native() || w.weight() < heavy {
		return inOrder(ctx, stages...)
	}
	return resource.InTurn(ctx, turns, w.Options.Caller, func() error { return inOrder(ctx, stages...) })
}

// weight is about how many bytes there are to work on.
func (w *Write) weight() int {
	n := w.source.size()
	if w.from.Entry != nil {
		n += w.from.Entry.StoredSize()
	}
	return n
}

// make makes the new state of the present one.
func (w *Write) make(ctx context.Context) error {
	return w.inTurn(ctx,
		w.decode, // the body: parsed, and defaulted if it is an object
		w.open,   // the present state
		w.change, // makes the new one: a body, or a patch with defaults, or a deletion
		w.manage, // field management, which an apply has done
	)
}

// judge validates it.
func (w *Write) judge(ctx context.Context) error { return w.inTurn(ctx, w.validate) }

// encode makes the bytes of it.
func (w *Write) encode(ctx context.Context) error { return w.inTurn(ctx, w.convert) }
