package write

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
)

// commit has the store do a write, with postings, or finds out whether it would: at
// which revision it is then. Every change compares the revision that the write
// started from, and that of the definition that it was made under.
func commit(ctx context.Context, e *Writer, r *request, p *progress, claims claimed, postings []resource.Posting) (revision int64, err error) {
	key, store := r.Resource.Key(r.Namespace, r.Name), claims.guard(r.Resource.Writer(e.store))
	for _, one := range postings {
		store = store.Along(one.Key, one.Stored, one.Revision)
	}
	if p.ending == keeps || r.Options.DryRun || p.named > 0 { // nothing that the store compares with the definition
		if err := e.inForce(ctx, r.Target); err != nil {
			return 0, err
		}
	}
	if p.ending == keeps && p.operation != admission.Create {
		if err := mustBeCurrent(ctx, e, r, p); err != nil || p.ending == keeps {
			return 0, err
		}
	}
	switch {
	case p.operation == admission.Create && r.Options.DryRun:
		return 0, isFree(ctx, e, r, key)
	case p.operation == admission.Create && p.named > 0:
		return 0, atRevision()
	case p.operation == admission.Create:
		revision, err = store.Create(ctx, key, p.draft.Stored, ttl(r, &p.next))
	case r.Options.DryRun:
		return p.from.Revision, nil
	case p.ending == removes:
		revision, err = store.Delete(ctx, key, p.from.Revision)
	default:
		revision, err = store.Update(ctx, key, p.draft.Stored, p.from.Revision, ttl(r, &p.next))
	}
	if o := overtakenBy(err, postings); o != nil {
		return 0, o
	}
	if err != nil {
		return 0, notCommitted(ctx, e, r, claims, err)
	}
	e.spaces.note(r.Resource, revision)
	e.waitUntilServed(ctx, r.Resource, revision)
	return revision, nil
}

// notCommitted tells what becomes of a write that the store refused, or whose
// outcome nobody knows.
func notCommitted(ctx context.Context, e *Writer, r *request, claims claimed, err error) error {
	var s *storage.Error
	if errors.As(err, &s) {
		switch {
		case claims.lost(s):
			return errUnclaimed
		case s.Kind == storage.Changed:
			return &redefined{s.Revision, s.Current == nil}
		case s.Kind == storage.Conflict && s.Current != nil:
			return superseded{read.Origin{Entry: view.NewEntry(*s.Current), Live: true, Stale: s.Current.Keeping == storage.Stale}}
		case (s.Kind == storage.Exists || s.Kind == storage.NotFound) && r.exists == mayExist:
			return superseded{}
		case s.Kind == storage.Exists:
			return alreadyExists(ctx, e.reads, r.Target) // with another name it may go well
		}
	}
	kind := storage.KindOf(err)
	return final{unconfirmed(ctx, r.Target, err), kind == storage.TooLarge || kind == storage.Full || kind == storage.TooMany}
}

// unconfirmed tells of a write that the store did not do, or that nobody knows of whether it
// did. Of such a one nobody is told to try again, as clients then do by themselves: they would
// make two objects, or apply a patch to what it made. It has the form of what kube-apiserver
// tells of etcd's errors, and not the reason InternalError, by which a full store is known.
func unconfirmed(ctx context.Context, t resource.Target, err error) error {
	switch {
	case storage.KindOf(err) != storage.Unavailable:
		return t.StoreError(err)
	case ctx.Err() != nil:
		return view.ErrTimeout()
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: "the store did not confirm the write: " + err.Error(),
	}}
}

// lightened takes the managedFields from a state that was too large to be stored, which
// may be small enough without, and tells whether there were any. Who applies keeps them:
// without, nothing would be applied.
func (w *Write) lightened(err error) bool {
	var done final
	if !errors.As(err, &done) || !apierrors.IsRequestEntityTooLargeError(done.error) || w.stored || w.owners.next == nil {
		return false
	}
	if _, applies := w.source.(*applying); applies {
		return false
	}
	w.owners.next, w.owners.same = nil, false
	return true
}

// mustBeCurrent is the commit of a write that changes nothing. A cached state
// proves nothing: somebody may have written since what this write would change.
// What is not kept as it would be now is written all the same.
func mustBeCurrent(ctx context.Context, e *Writer, r *request, p *progress) (err error) {
	now := p.from
	if !now.Live {
		if now, err = current(ctx, e.reads, r, true); err != nil {
			return err
		}
		if now.Entry == nil || now.Revision != p.from.Revision {
			return superseded{now}
		}
	}
	if !now.Stale || r.Options.DryRun {
		return nil
	}
	p.ending = stores
	if !r.Options.NoReply {
		_, err = p.draft.View(ctx, r.Version.Name)
	}
	return err
}

// isFree is what a dry run does instead of the store's own check.
func isFree(ctx context.Context, e *Writer, r *request, key string) error {
	_, err := e.store.Get(ctx, key)
	switch {
	case err == nil && r.exists == mayExist:
		return superseded{}
	case err == nil:
		return alreadyExists(ctx, e.reads, r.Target)
	case storage.KindOf(err) == storage.NotFound:
		return nil
	}
	return r.StoreError(fmt.Errorf("looking for an object of that name: %w", err))
}

func ttl(r *request, n *next) (d time.Duration) {
	if r.Resource.Def.TTL != nil {
		d = r.Resource.Def.TTL(n.object.Object)
	}
	return d
}

// start is the state that the first attempt starts from. A dry run leaves
// nothing for the store to compare, so it looks there first.
func start(ctx context.Context, reads *read.Reader, r *request) (read.Origin, error) {
	if r.exists == mustNotExist {
		return read.Origin{}, nil
	}
	return current(ctx, reads, r, r.Options.DryRun)
}

// current is the present state: the cached one if there is one and live does
// not ask for more, and none if the write may do without.
func current(ctx context.Context, reads *read.Reader, r *request, live bool) (read.Origin, error) {
	from, err := reads.Current(ctx, r.Target, live)
	if r.exists == mayExist && apierrors.IsNotFound(err) {
		return read.Origin{}, nil
	}
	return from, err
}
