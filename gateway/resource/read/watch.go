package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Watch is one client's view of the changes to a collection. It is used by
// one goroutine, and has to be stopped.
type Watch struct {
	// Missing are objects that exist and are none of Initial, as they do not convert.
	Missing []resource.Missing
	// InitialRevision is the revision of Initial.
	InitialRevision int64
	// InitialEnd asks for the bookmark that closes the initial events.
	InitialEnd bool
	// Replaced is closed when the resource is no longer served in this form,
	// and the watch has to end. Where it is served no longer at all, Next has what
	// happened until then.
	Replaced <-chan struct{}

	initial   initial
	selection *selection
	prefix    string
	shown     func(context.Context) (until int64, err error)
	cursor    cursor
	stop      func() // ends what cursor needs, nil if that is nothing
	// most is how many events Next takes at a time, once it is known how large they are.
	most int
	// events and changes are memory for Next.
	events  []watchcache.Event[*view.Entry]
	changes []resource.Change
}

// cursor is the place of a watch in the changes to all objects.
type cursor interface {
	AppendNext(dst []watchcache.Event[*view.Entry], most int) ([]watchcache.Event[*view.Entry], error)
	Revision() int64
	Wait() <-chan struct{}
	Expired() bool
}

// Watch starts a watch (rows RV-11 to RV-16, WATCH-08 to WATCH-12). options
// were validated. A start that is too old is a 410 status error.
func (e *Reader) Watch(ctx context.Context, t resource.Target, o *internalversion.ListOptions) (*Watch, error) {
	sel, err := newSelection(t, o)
	if err != nil {
		return nil, err
	}
	shown := func(ctx context.Context) (int64, error) { return e.served.StillShown(ctx, t.Resource) }
	w := &Watch{selection: sel, Replaced: t.Resource.Shown(), shown: shown}
	if t.Namespace != "" {
		w.prefix = t.Namespace + "/"
	}
	rev, err := resource.ParseRevision(o.ResourceVersion)
	if err != nil {
		return nil, err
	}
	initial := rev == 0
	if o.SendInitialEvents != nil {
		initial = *o.SendInitialEvents
		w.InitialEnd = initial && o.AllowWatchBookmarks
	}
	if !initial && rev != 0 {
		if err := e.served.InForce(ctx, t.Resource); err != nil {
			return nil, err
		}
		w.InitialRevision = rev
		return w, w.start(t, rev)
	}
	if err := e.waitForRevision(ctx, t.Resource, o.ResourceVersion); err != nil {
		return nil, err
	}
	s := t.Resource.Bucket().Snapshot()
	w.InitialRevision = s.Revision()
	switch {
	case initial && sel.empty():
		w.initial.all, w.initial.prefix, w.initial.more = s, w.prefix, true
	case initial:
		l := &listing{target: t, selection: sel, prefix: w.prefix}
		if err := l.take(ctx, s); err != nil {
			return nil, err
		}
		w.initial.selected, w.Missing = l.result.Entries, l.result.Missing
	}
	return w, w.start(t, s.Revision())
}

func (w *Watch) start(t resource.Target, from int64) error {
	cursor, err := t.Resource.Bucket().Watch(from)
	if err != nil {
		return w.expired(err, from)
	}
	w.cursor = cursor
	if interests := w.selection.interests(t.Namespace); interests != nil {
		w.cursor, w.stop = t.Resource.Follow(cursor, interests...)
	}
	return nil
}

// Ended tells whether Replaced is closed.
func (w *Watch) Ended() bool {
	select {
	case <-w.Replaced:
		return true
	default:
		return false
	}
}

// Stop ends the watch. One that did not begin, which is nil, needs no end.
func (w *Watch) Stop() {
	if w != nil && w.stop != nil {
		w.stop()
	}
}

func (w *Watch) expired(err error, from int64) error {
	var x *watchcache.Expired
	if errors.As(err, &x) {
		return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, x.Oldest))
	}
	return apierrors.NewInternalError(err)
}

// maxChanges and changesBytes bound what one Next returns, so that a slow client's
// backlog is written in pieces, and a client that does not read holds little of what
// is no longer history: the bytes by what the events before took.
const (
	maxChanges   = 256
	changesBytes = 256 << 10
	// fewChanges is for how many there is memory while none comes.
	fewChanges = 16
)

// Over tells that the watch cannot go on, but for what was taken already: the resource
// is replaced, or what comes next is no longer kept.
func (w *Watch) Over() bool {
	select {
	case <-w.Replaced:
		return true
	default:
		return w.cursor.Expired()
	}
}

// Wait returns a channel that gives a value, or is closed, once Next has something to
// say. Take a new channel for each wait.
func (w *Watch) Wait() <-chan struct{} { return w.cursor.Wait() }

// Next returns the changes that have happened since the last call and that the
// client selected; there may be none. They are the caller's until the next
// call. more tells that others are waiting. A client that fell too far behind
// gets a 410 status error. It is [catalog.ErrReplaced] where they are to be shown by
// another definition.
func (w *Watch) Next(ctx context.Context) (changes []resource.Change, more bool, err error) {
	most := cmp.Or(w.most, maxChanges)
	if w.events, err = w.cursor.AppendNext(w.events[:0], most); err != nil {
		return nil, false, w.expired(err, w.cursor.Revision())
	}
	until, err := w.shown(ctx)
	if err != nil {
		return nil, false, err
	}
	if until > 0 {
		w.events = slices.DeleteFunc(w.events, func(ev watchcache.Event[*view.Entry]) bool { return ev.Item.Revision > until })
	}
	if w.changes = w.changes[:0]; cap(w.changes) > fewChanges && len(w.events) <= fewChanges {
		w.changes = nil
	}
	if w.selection.whole() {
		if err := w.prepare(ctx); err != nil {
			return nil, false, err
		}
	}
	for _, ev := range w.events {
		c, ok, err := w.change(ctx, ev)
		if err != nil {
			return nil, false, err
		}
		if ok {
			w.changes = append(w.changes, c)
		}
	}
	more = len(w.events) == most
	w.pace()
	clear(w.events)
	if !more && cap(w.events) > fewChanges {
		w.events = nil
	}
	return w.changes, more, nil
}

// pace says how many events are taken next time, by what these took.
func (w *Watch) pace() {
	if len(w.events) == 0 {
		return
	}
	bytes := 1
	for _, ev := range w.events {
		bytes += ev.Item.Value.StoredSize()
	}
	w.most = min(maxChanges, max(1, changesBytes*len(w.events)/bytes))
}

// prepare converts at once what the selection is about to look into.
func (w *Watch) prepare(ctx context.Context) error {
	var entries []*view.Entry
	want := func(key string, e *view.Entry) error {
		ok, err := w.selection.shallow(key, e)
		if ok {
			entries = append(entries, e)
		}
		return err
	}
	for _, ev := range w.events {
		if !w.concerns(ev.Item.Key) {
			continue
		}
		var err error
		if ev.HasPrev {
			err = want(ev.Item.Key, ev.Prev)
		}
		if ev.Type != watchcache.Deleted && err == nil {
			err = want(ev.Item.Key, ev.Item.Value)
		}
		if err != nil {
			return err
		}
	}
	_, err := w.selection.objects(ctx, entries, func(int, error) {})
	return err
}

// concerns tells whether a key is in the watched namespace.
func (w *Watch) concerns(key string) bool { return strings.HasPrefix(key, w.prefix) }

// Revision is the revision up to which the client has seen everything.
func (w *Watch) Revision() int64 { return w.cursor.Revision() }

// change turns a cache event into what the client's selection makes of it: an
// object that enters the selection is added, one that leaves it is deleted.
func (w *Watch) change(ctx context.Context, ev watchcache.Event[*view.Entry]) (resource.Change, bool, error) {
	if !w.concerns(ev.Item.Key) {
		return resource.Change{}, false, nil
	}
	if w.selection.empty() {
		switch ev.Type {
		case watchcache.Added:
			return resource.Change{Type: watch.Added, Entry: ev.Item.Value}, true, nil
		case watchcache.Modified:
			return resource.Change{Type: watch.Modified, Entry: ev.Item.Value}, true, nil
		default:
			return resource.Change{Type: watch.Deleted, Entry: ev.Item.Value}, true, nil
		}
	}
	var was, is bool
	var err error
	if ev.HasPrev {
		if was, err = w.selection.match(ctx, ev.Item.Key, ev.Prev); err != nil {
			return resource.Change{}, false, err
		}
	}
	if ev.Type != watchcache.Deleted {
		if is, err = w.selection.match(ctx, ev.Item.Key, ev.Item.Value); err != nil {
			return resource.Change{}, false, err
		}
	}
	switch {
	case is && was:
		return resource.Change{Type: watch.Modified, Entry: ev.Item.Value}, true, nil
	case is:
		return resource.Change{Type: watch.Added, Entry: ev.Item.Value}, true, nil
	case was && ev.Type == watchcache.Deleted:
		return resource.Change{Type: watch.Deleted, Entry: ev.Item.Value}, true, nil
	case was:
		return resource.Change{Type: watch.Deleted, Entry: view.Tombstone(ev.Prev, ev.Item.Revision)}, true, nil
	default:
		return resource.Change{}, false, nil
	}
}
