package write

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
)

// commitWith has the store do the write, with postings, or finds
// out whether it would. Every change compares the revision that the write
// started from, and that of the definition that it was made under.
func (w *Write) commitWith(ctx context.Context, postings []resource.Posting) (err error) {
	key, store := w.Resource.Key(w.Namespace, w.Name), w.claims.guard(w.Resource.Writer(w.writer.store))
	for _, p := range postings {
		store = store.Along(p.Key, p.Stored, p.Revision)
	}
	switch {
	case w.operation == admission.Create && w.Options.DryRun:
		return w.mustNotExist(ctx, key)
	case w.operation == admission.Create && w.named > 0:
		return atRevision()
	case w.operation == admission.Create:
		w.revision, err = store.Create(ctx, key, w.draft.Stored, w.ttl())
	case w.ending == keeps:
		return w.mustBeCurrent(ctx)
	case w.Options.DryRun:
		w.revision = w.from.Revision
		return nil
	case w.ending == removes:
		w.revision, err = store.Delete(ctx, key, w.from.Revision)
	default:
		w.revision, err = store.Update(ctx, key, w.draft.Stored, w.from.Revision, w.ttl())
	}
	if o := overtakenBy(err, postings); o != nil {
		return o
	}
	if err != nil {
		return w.notCommitted(ctx, err)
	}
	w.writer.spaces.note(w.Resource, w.revision)
	w.writer.waitUntilServed(ctx, w.Resource, w.revision)
	return nil
}

// notCommitted tells what becomes of a write that the store refused, or whose
// outcome nobody knows.
func (w *Write) notCommitted(ctx context.Context, err error) error {
	var s *storage.Error
	if errors.As(err, &s) {
		switch {
		case w.claims.lost(s):
			return errUnclaimed
		case s.Kind == storage.Changed:
			return &redefined{s.Revision, s.Current == nil}
		case s.Kind == storage.Conflict && s.Current != nil:
			return superseded{view.NewEntry(*s.Current)}
		case (s.Kind == storage.Exists || s.Kind == storage.NotFound) && w.exists == mayExist:
			return superseded{}
		case s.Kind == storage.Exists:
			return w.alreadyExists(ctx) // with another name it may go well
		}
	}
	return final{w.StoreError(err)}
}

// mustBeCurrent is the commit of a write that changes nothing. A cached state
// proves nothing: somebody may have written since what this write would change.
func (w *Write) mustBeCurrent(ctx context.Context) error {
	if w.from.Live {
		return nil
	}
	now, err := w.current(ctx, true)
	if err != nil {
		return err
	}
	if now.Entry == nil || now.Revision != w.from.Revision {
		return superseded{now.Entry}
	}
	return nil
}

// mustNotExist is what a dry run does instead of the store's own check.
func (w *Write) mustNotExist(ctx context.Context, key string) error {
	_, err := w.writer.store.Get(ctx, key)
	switch {
	case err == nil && w.exists == mayExist:
		return superseded{}
	case err == nil:
		return w.alreadyExists(ctx)
	case storage.KindOf(err) == storage.NotFound:
		return nil
	}
	return w.StoreError(fmt.Errorf("looking for an object of that name: %w", err))
}

func (w *Write) ttl() (d time.Duration) {
	if w.Resource.Def.TTL != nil {
		d = w.Resource.Def.TTL(w.object.Object)
	}
	return d
}

// start is the state that the first attempt starts from. A dry run leaves
// nothing for the store to compare, so it looks there first.
func (w *Write) start(ctx context.Context) (read.Origin, error) {
	if w.exists == mustNotExist {
		return read.Origin{}, nil
	}
	return w.current(ctx, w.Options.DryRun)
}

// current is the present state: the cached one if there is one and live does
// not ask for more, and none if the write may do without.
func (w *Write) current(ctx context.Context, live bool) (read.Origin, error) {
	from, err := w.writer.reads.Current(ctx, w.Target, live)
	if w.exists == mayExist && apierrors.IsNotFound(err) {
		return read.Origin{}, nil
	}
	return from, err
}
