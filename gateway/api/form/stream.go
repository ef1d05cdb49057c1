package form

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Stream is one watch being sent.
type Stream struct {
	target resource.Target
	form   Form
	// kind is that of the objects, with the apiVersion as its version.
	kind  schema.GroupVersionKind
	query url.Values
	watch *read.Watch
	out   reply.FrameWriter
	sent  func(events int)
	// begun is called when what the watch begins with was sent, or is not read; more
	// than once.
	begun func(sent bool)
	// bookmarks is how often there is one; 0 for a client that allows none.
	bookmarks time.Duration
	// tables counts tables sent, since only the first has column definitions.
	tables int
	// collected is how many bytes the next flush sends.
	collected int
	// entries, objects and scratch are memory for send and event.
	entries []*view.Entry
	objects []encoding.Object
	scratch []byte
}

// NewStream makes a reply to a watch of t in a form. query are the parameters of its
// tables, bookmarks how often there is one; 0 for a client that allows none. sent is
// told of events, begun, maybe more than once, when those are sent that it begins with,
// which it is told, or the client reads nothing.
func NewStream(f Form, t resource.Target, query url.Values, bookmarks time.Duration, sent func(events int), begun func(sent bool)) *Stream {
	s := &Stream{target: t, form: f, query: query, bookmarks: bookmarks, sent: sent, begun: begun}
	s.kind.Version, s.kind.Kind = f.kind(t).ToAPIVersionAndKind()
	return s
}

// Send sends w, which is nil where the watch did not begin: refused tells why. A watch
// that ends in time has no error to tell. It stops w.
func (s *Stream) Send(ctx context.Context, w *read.Watch, refused error, out reply.FrameWriter) {
	s.watch, s.out = w, out
	defer w.Stop()
	err := refused
	if err == nil {
		out.Hold(func() bool {
			s.begun(false) // nobody waits for a client that reads nothing of what its watch begins with
			return ctx.Err() == nil && !w.Over()
		})
		err = s.run(ctx)
	}
	if err != nil && !errors.Is(err, errLeft) && !errors.Is(err, errUntold) && ctx.Err() == nil {
		s.fail(err)
	}
}

// Response is the head of the reply, whose stream is send.
func (f Form) Response(send func(ctx context.Context, out reply.FrameWriter)) *reply.Response {
	return &reply.Response{Code: http.StatusOK, ContentType: f.media.Stream(), Stream: send}
}

// run sends the watch until ctx ends, the resource is replaced, or it fails.
// A nil error is a clean end.
func (s *Stream) run(ctx context.Context) error {
	if err := s.flush(); err != nil { // the head goes out at once
		return err
	}
	if err := s.initial(ctx); err != nil {
		return err
	}
	s.begun(true)
	due := s.nextBookmark(ctx)
	last := s.watch.InitialRevision
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.watch.Replaced:
			return s.rest(ctx)
		case <-due:
			due = s.nextBookmark(ctx)
			if s.watch.Ended() { // what comes after its end it does not tell of
				continue
			}
			if rev := s.watch.Revision(); rev > last {
				last = rev
				if err := s.bookmark(ctx, rev, false); err != nil {
					return err
				}
			}
		case <-s.watch.Wait():
			if err := s.pending(ctx); err != nil {
				if s.watch.Ended() {
					return nil
				}
				return err
			}
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
}

// rest sends what happened until the resource was served no longer. Where it is served in
// another form, there is nothing to send.
func (s *Stream) rest(ctx context.Context) error {
	if s.pending(ctx) != nil {
		return nil
	}
	return s.flush()
}

// lastBookmark is how long before its end a watch has a bookmark, so that the next
// one can begin where this one ends, however quiet the kind is.
const lastBookmark = 2 * time.Second

// nextBookmark is when the next bookmark is due; nil for never.
func (s *Stream) nextBookmark(ctx context.Context) <-chan time.Time {
	if s.bookmarks == 0 {
		return nil
	}
	wait := s.bookmarks
	if end, ends := ctx.Deadline(); ends {
		left := time.Until(end) - lastBookmark
		if left <= 0 {
			return nil
		}
		wait = min(wait, left)
	}
	return time.After(wait)
}

// pending sends all that has happened, a piece at a time.
func (s *Stream) pending(ctx context.Context) error {
	for more := true; more && ctx.Err() == nil; {
		changes, m, err := s.watch.Next(ctx)
		if err != nil {
			return err
		}
		if err := s.send(ctx, changes); err != nil {
			return err
		}
		clear(changes) // while nothing happens, nobody holds what happened last
		if more = m; more {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// initialPiece is how many initial objects are sent at once.
const initialPiece = 200

func (s *Stream) initial(ctx context.Context) error {
	for entries := s.watch.Initial(initialPiece); len(entries) > 0; entries = s.watch.Initial(initialPiece) {
		changes := make([]resource.Change, len(entries))
		for i, e := range entries {
			changes[i] = resource.Change{Type: watch.Added, Entry: e}
		}
		if err := s.send(ctx, changes); err != nil {
			return err
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.watch.InitialEnd {
		if err := s.bookmark(ctx, s.watch.InitialRevision, true); err != nil {
			return err
		}
		return s.flush()
	}
	return nil
}

// send writes changes in the client's form, few at a time where they are large: a client
// that does not read should hold little.
func (s *Stream) send(ctx context.Context, changes []resource.Change) error {
	if len(changes) > 0 && s.form.as == "PartialObjectMetadataList" {
		return errUntold
	}
	for len(changes) > 0 {
		n, bytes := 0, 0
		for n < len(changes) && bytes < maxCollected {
			bytes += changes[n].Entry.StoredSize()
			n++
		}
		if err := s.piece(ctx, changes[:n]); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// piece writes a few changes.
func (s *Stream) piece(ctx context.Context, changes []resource.Change) error {
	s.entries = s.entries[:0]
	for i := range changes {
		s.entries = append(s.entries, changes[i].Entry)
	}
	var err error
	s.objects, err = s.target.Resource.Objects(ctx, s.objects[:0], s.entries, s.form.Encoding(s.target))
	for i := 0; i < len(changes) && err == nil; i++ {
		err = s.event(ctx, changes[i].Type, s.objects[i])
	}
	if err == nil {
		s.sent(len(changes))
	}
	clear(s.objects)
	clear(s.entries)
	if cap(s.objects) > fewKept {
		s.objects, s.entries = nil, nil
	}
	return err
}

// fewKept is of how many changes a stream keeps the memory: most wait for the next one
// most of the time.
const fewKept = 16

// event sends one object in the client's form.
func (s *Stream) event(ctx context.Context, kind watch.EventType, o encoding.Object) error {
	if s.form.table() {
		data, err := s.table(ctx, o.Bytes())
		if err != nil {
			return err
		}
		return s.tell(kind, data)
	}
	return s.about(kind, o)
}

// about sends an event about an object in the client's media type.
func (s *Stream) about(kind watch.EventType, o encoding.Object) error {
	f, err := s.form.media.Codec().Event(&s.scratch, string(kind), o, s.kind)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	return s.frame(f)
}

func (s *Stream) table(ctx context.Context, data []byte) ([]byte, error) {
	v := url.Values{}
	for k, x := range s.query {
		v[k] = x
	}
	if s.tables > 0 {
		v.Set("noHeaders", "true")
	}
	s.tables++
	return tableOf(ctx, s.target, data, s.form.version, v)
}
