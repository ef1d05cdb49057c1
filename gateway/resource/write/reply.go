package write

import (
	"context"
	"errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// draft makes the bytes for the store.
func draft(ctx context.Context, r *request, from *present, to *next) (*view.Draft, error) {
	if r.stored {
		return r.Resource.DraftStored(to.object.Object)
	}
	attachManaged(to, from)
	defer object.Detach(to.object.Object)
	d, err := r.Resource.Draft(ctx, r.Version, to.object.Object, from.text(), from.previews...)
	if unconverted := new(view.UnconvertedError); errors.As(err, &unconverted) && stuck(ctx, r, from.entry) {
		return r.Resource.DraftStored(to.object.Object)
	}
	return d, err
}

// stuck tells that e, which is stored at the version of the request, cannot be brought
// to the one that objects are stored at now, so that whoever writes it at its own
// version leaves it there. What converts as it is has to convert afterwards.
func stuck(ctx context.Context, r *request, e *view.Entry) bool {
	if e == nil || !r.Resource.StoredAt(e, r.Version.Name) {
		return false
	}
	_, err := r.Resource.View(ctx, e, r.Resource.Def.StorageVersion)
	return errors.As(err, new(*view.UnconvertedError))
}

// afford takes the memory of the reply while nothing is written yet: afterwards it has to
// be told what was.
func (w *Write) afford(ctx context.Context) error {
	n := w.shown
	switch {
	case w.Options.Room == nil, w.ending == removes && w.operation == admission.Delete && !w.Resource.Def.ReturnsDeleted:
		return nil
	case w.ending != stores && w.from.Entry != nil: // what is told is as it was
		n = w.from.Entry.StoredSize()
	}
	return w.Options.Room.Room(ctx, n)
}

// reply is what the client is told of the object, nil for nothing.
func reply(ctx context.Context, r *request, p *progress) ([]byte, error) {
	switch {
	case r.Options.NoReply:
		return nil, nil
	case p.ending == removes && p.operation == admission.Delete && !r.Resource.Def.ReturnsDeleted: // told by a Status
		return nil, nil
	case p.ending == removes && p.operation == admission.Delete:
		return ended(r, p)
	case p.ending == removes:
		object.SetRevision(p.object.Object, p.revision)
		if !r.stored {
			attachManaged(&p.next, &p.present)
		}
		return object.Encode(p.object.Object)
	case p.ending == keeps:
		return r.Resource.View(ctx, p.from.Entry, r.Version.Name)
	case !r.Options.DryRun:
		return p.out.Object, nil
	}
	data, err := p.draft.View(ctx, r.Version.Name)
	shown := p.named
	if p.from.Entry != nil {
		shown = p.from.Revision
	}
	if err == nil && shown != 0 {
		return object.WithRevision(data, shown)
	}
	return data, err
}
