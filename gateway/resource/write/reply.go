package write

import (
	"bytes"
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
	if err == nil && timesAlone(r, from, to, d) {
		object.SetManaged(to.object.Object, from.managed)
		again, err := r.Resource.Draft(ctx, r.Version, to.object.Object, from.text(), from.previews...)
		if err == nil && from.entry.IsStoredAs(again.Stored) {
			return again, nil
		}
	}
	return d, err
}

// timesAlone tells that a draft seems to differ from what is stored in nothing but times of
// managedFields: the request is at a version that has what the stored one lacks, and says
// that again. Then it changes nothing, as it would not within the same second.
func timesAlone(r *request, from *present, to *next, d *view.Draft) bool {
	return from.entry != nil && to.owners.same && r.Version.Name != r.Resource.Def.StorageVersion &&
		from.entry.StoredSize() == len(d.Stored) && differInTimes(from.entry.Stored(), d.Stored)
}

// aTime is how a time of managedFields begins, and timeSize how long it is.
const (
	aTime    = `"time":"`
	timeSize = len("2006-01-02T15:04:05Z")
)

// differInTimes tells that two texts of one length differ, and only where a time is.
func differInTimes(a, b []byte) bool {
	differ := false
	for i := 0; i < len(a); i++ {
		if a[i] == b[i] {
			continue
		}
		begin := max(0, i-len(aTime)-timeSize+1)
		at := bytes.LastIndex(a[begin:i], []byte(aTime))
		if at < 0 {
			return false
		}
		differ = true
		i = begin + at + len(aTime) + timeSize - 1 // what is left of it counts no more
	}
	return differ
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
