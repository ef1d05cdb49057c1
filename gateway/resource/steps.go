package resource

import (
	"bytes"
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
)

// The stages of [Write.attempt], in their order.

func (w *Write) decode(context.Context) error { return w.source.decode(w) }

// open reads the present state at the version of the request. For a write that
// works on what is stored that is only to see that it can be read.
func (w *Write) open(ctx context.Context) error {
	if w.from.Entry == nil {
		return nil
	}
	if !w.stored {
		return w.read(ctx)
	}
	tree, err := w.Resource.Def.Codec.Decode(w.from.Stored)
	if err != nil {
		return w.Resource.Unreadable(w.from.Entry, err)
	}
	w.object = asUnstructured(tree)
	if w.Options.NoReply {
		return nil
	}
	w.present, err = w.Resource.View(ctx, w.from.Entry, w.Version.Name)
	return err
}

// read decodes the present state.
func (w *Write) read(ctx context.Context) error {
	data, err := w.Resource.View(ctx, w.from.Entry, w.Version.Name)
	if err != nil {
		return err
	}
	tree, _, err := object.ParseObject(data)
	if err != nil {
		return w.Resource.Unreadable(w.from.Entry, err)
	}
	w.present, w.old = data, asUnstructured(tree)
	w.managed.live, err = object.TakeManaged(tree)
	return err
}

func (w *Write) change(ctx context.Context) error {
	if err := w.source.change(ctx, w); err != nil || w.stored {
		return err
	}
	var err error
	if w.managed.sent, err = object.TakeManaged(w.object.Object); err != nil {
		return apierrors.NewInternalError(err)
	}
	if w.operation == admission.Update {
		return w.precondition(ctx)
	}
	return nil
}

func (w *Write) mutate(ctx context.Context) error {
	if w.operation == admission.Create {
		if may := w.Options.MayCreate; may != nil && w.exists == mayExist {
			if err := may(ctx, w.Name); err != nil {
				return err
			}
		}
		if err := w.engine.admitCreate(ctx, w.Target, w.wantedName(), w.Options.DryRun); err != nil {
			return err
		}
	}
	if w.Options.unasked || len(w.engine.asked.Mutators) == 0 {
		return nil
	}
	owners, err := w.owners()
	if err != nil {
		return err
	}
	for _, m := range w.engine.asked.Mutators {
		if err := m.Mutate(ctx, w); err != nil {
			return err
		}
	}
	return w.judgeOwners(owners)
}

func (w *Write) validate(ctx context.Context) error {
	w.scaled = nil // from here on a Scale is what is made of it
	switch {
	case w.stored:
		return nil // it was valid, and its source says what it may become
	case w.operation == admission.Create:
		return w.prepareCreate(ctx)
	default:
		return w.prepareUpdate(ctx)
	}
}

func (w *Write) admit(ctx context.Context) error {
	if w.Options.unasked {
		return nil
	}
	for _, v := range w.engine.asked.Validators {
		if err := v.Validate(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// convert makes the bytes for the store and, before anything is stored, those
// of the reply: a write whose reply cannot be made is refused. What changes
// nothing is not converted back.
func (w *Write) convert(ctx context.Context) (err error) {
	if w.ending == removes {
		return nil
	}
	if w.stored {
		w.draft, err = w.Resource.DraftStored(w.object.Object)
	} else {
		w.attachManaged()
		w.draft, err = w.Resource.Draft(ctx, w.Version, w.object.Object, w.managed.previews...)
		object.Detach(w.object.Object)
	}
	if err != nil {
		return err
	}
	w.ending = stores
	if w.from.Entry != nil && bytes.Equal(w.draft.Stored, w.from.Stored) {
		w.ending = keeps
		return nil
	}
	if w.Options.NoReply {
		return nil
	}
	_, err = w.draft.View(ctx, w.Version.Name)
	return err
}

// handOver gives the committed state to the cache, so that no reader has to
// make again what the writer made.
func (w *Write) handOver(context.Context) error {
	w.out = &Written{Created: w.operation == admission.Create, Deleted: w.ending == removes, UID: string(w.object.GetUID())}
	if w.ending != stores || w.Options.DryRun {
		return nil
	}
	entry, view, err := w.draft.Committed(w.revision, w.Version.Name)
	if err != nil {
		return final{err}
	}
	w.out.Object = view
	w.engine.cache.Committed(w.Resource.Key(w.Namespace, w.Name), w.revision, entry)
	return nil
}

// reply completes what the client is told.
func (w *Write) reply(ctx context.Context) (err error) {
	switch {
	case w.Options.NoReply:
		w.out.Object = nil
	case w.ending == removes && w.operation == admission.Delete && !w.Resource.Def.ReturnsDeleted: // told by a Status
	case w.ending == removes && w.operation == admission.Delete:
		w.out.Object, err = w.ended()
	case w.ending == removes:
		object.SetRevision(w.object.Object, w.revision)
		w.attachManaged()
		w.out.Object, err = object.Encode(w.object.Object)
	case w.ending == keeps:
		w.out.Object, err = w.Resource.View(ctx, w.from.Entry, w.Version.Name)
	case w.Options.DryRun:
		w.out.Object, err = w.draft.View(ctx, w.Version.Name)
		shown := w.named
		if w.from.Entry != nil {
			shown = w.from.Revision
		}
		if err == nil && shown != 0 {
			w.out.Object, err = object.WithRevision(w.out.Object, shown)
		}
	}
	if err != nil {
		return final{err}
	}
	return nil
}
