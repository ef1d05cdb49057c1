package api

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// bookmarkInterval is how often a client that allows bookmarks gets one if
// nothing else is configured.
const bookmarkInterval = time.Minute

// stream is one watch being sent.
type stream struct {
	target resource.Target
	form   form
	// kind is that of the objects, with the apiVersion as its version.
	kind  schema.GroupVersionKind
	query url.Values
	watch *resource.Watch
	out   FrameWriter
	sent  func(events int)
	// bookmarks is how often there is one; 0 for a client that allows none.
	bookmarks time.Duration
	// tables counts tables sent, since only the first has column definitions.
	tables int
	// collected is how many bytes the next flush sends.
	collected int
	// entries, objects, box and buf are memory for send and frame.
	entries  []*catalog.Entry
	objects  []encoding.Object
	box, buf []byte
}

// watch answers a watch: what can be refused is refused before the stream
// begins; a start that is too old, or not reached yet, is an ERROR event in it, as
// kube-apiserver does it.
func (h *Handler) watch(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	if f.media.Stream() == "" {
		return nil, notAcceptable(c.offer(t).streamed())
	}
	o, err := c.Params.List(true, !h.NoWatchLists)
	if err == nil && t.Name != "" {
		err = onlyNamed(o, t.Name)
		t.Name = ""
	}
	if err != nil {
		return nil, err
	}
	sctx, cancel := context.WithTimeout(ctx, h.RequestTimeout)
	w, err := h.Engine.Watch(sctx, t, o)
	cancel()
	if err != nil && !apierrors.IsResourceExpired(err) && !apierrors.IsTimeout(err) {
		return nil, err
	}
	lifetime := h.lifetime(o)
	return &Response{Code: http.StatusOK, ContentType: f.media.Stream(), Stream: func(ctx context.Context, out FrameWriter) {
		s := &stream{target: t, form: f, query: v, watch: w, out: out, sent: h.Observer.Watching(&c.Info)}
		s.kind.Version, s.kind.Kind = f.kind(t).ToAPIVersionAndKind()
		if o.AllowWatchBookmarks {
			s.bookmarks = cmp.Or(h.BookmarkInterval, bookmarkInterval)
		}
		ctx, cancel := context.WithTimeout(ctx, lifetime)
		defer cancel()
		if err == nil {
			err = s.run(ctx)
		}
		if err != nil && !errors.Is(err, errLeft) && !errors.Is(err, errUntold) && ctx.Err() == nil { // a watch that ends in time has no error to tell
			s.fail(err)
		}
	}}, nil
}

// onlyNamed has options select the object of a name, which an old path has.
func onlyNamed(o *internalversion.ListOptions, name string) error {
	if o.FieldSelector == nil || o.FieldSelector.Empty() {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name)
		return nil
	}
	if selected, ok := o.FieldSelector.RequiresExactMatch(metav1.ObjectNameField); !ok || selected != name {
		return apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return nil
}

// maxLifetime is the longest watch, so that no number of seconds overflows.
const maxLifetime = 30 * 24 * time.Hour

// lifetime is how long a watch may last.
func (h *Handler) lifetime(o *internalversion.ListOptions) time.Duration {
	if s := o.TimeoutSeconds; s != nil && *s > 0 {
		return time.Duration(min(*s, int64(maxLifetime/time.Second))) * time.Second
	}
	return h.MinWatchTimeout + rand.N(h.MinWatchTimeout+1)
}

// run sends the watch until ctx ends, the resource is replaced, or it fails.
// A nil error is a clean end.
func (s *stream) run(ctx context.Context) error {
	if err := s.flush(); err != nil { // the head goes out at once
		return err
	}
	if err := s.initial(ctx); err != nil {
		return err
	}
	due := s.nextBookmark(ctx)
	last := s.watch.InitialRevision
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.watch.Replaced:
			return nil
		case <-due:
			due = s.nextBookmark(ctx)
			if rev := s.watch.Revision(); rev > last {
				last = rev
				if err := s.bookmark(ctx, rev, false); err != nil {
					return err
				}
			}
		case <-s.watch.Wait():
			if err := s.pending(ctx); err != nil {
				return err
			}
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
}

// lastBookmark is how long before its end a watch has a bookmark, so that the next
// one can begin where this one ends, however quiet the kind is.
const lastBookmark = 2 * time.Second

// nextBookmark is when the next bookmark is due; nil for never.
func (s *stream) nextBookmark(ctx context.Context) <-chan time.Time {
	if s.bookmarks == 0 {
		return nil
	}
	wait := s.bookmarks
	if end, ends := ctx.Deadline(); ends {
		left := time.Until(end) - lastBookmark
		if left < 0 {
			return nil
		}
		wait = min(wait, left)
	}
	return time.After(wait)
}

// pending sends all that has happened, a piece at a time.
func (s *stream) pending(ctx context.Context) error {
	for more := true; more && ctx.Err() == nil; {
		changes, m, err := s.watch.Next(ctx)
		if err != nil {
			return err
		}
		if err := s.send(ctx, changes); err != nil {
			return err
		}
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

func (s *stream) initial(ctx context.Context) error {
	for entries := s.watch.Initial; len(entries) > 0; {
		n := min(len(entries), initialPiece)
		changes := make([]resource.Change, n)
		for i, e := range entries[:n] {
			changes[i] = resource.Change{Type: watch.Added, Entry: e}
		}
		entries = entries[n:]
		if err := s.send(ctx, changes); err != nil {
			return err
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.watch.Initial = nil
	if s.watch.InitialEnd {
		if err := s.bookmark(ctx, s.watch.InitialRevision, true); err != nil {
			return err
		}
		return s.flush()
	}
	return nil
}

// send writes changes in the client's form.
func (s *stream) send(ctx context.Context, changes []resource.Change) error {
	if len(changes) == 0 {
		return nil
	}
	if s.form.as == "PartialObjectMetadataList" {
		return errUntold
	}
	s.entries = s.entries[:0]
	for i := range changes {
		s.entries = append(s.entries, changes[i].Entry)
	}
	var err error
	s.objects, err = s.target.Resource.Objects(ctx, s.objects[:0], s.entries, s.form.encoding(s.target))
	for i := 0; i < len(changes) && err == nil; i++ {
		err = s.event(ctx, changes[i].Type, s.objects[i])
	}
	clear(s.objects)
	if err == nil {
		s.sent(len(changes))
	}
	return err
}

// event sends one object in the client's form.
func (s *stream) event(ctx context.Context, kind watch.EventType, o encoding.Object) error {
	if s.form.table() {
		data, err := s.table(ctx, o.Bytes())
		if err != nil {
			return err
		}
		return s.tell(kind, data)
	}
	data, err := s.form.media.Codec().Single(&s.box, o, s.kind)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	return s.frame(kind, data)
}

func (s *stream) table(ctx context.Context, data []byte) ([]byte, error) {
	v := url.Values{}
	for k, x := range s.query {
		v[k] = x
	}
	if s.tables > 0 {
		v.Set("noHeaders", "true")
	}
	s.tables++
	return tableOf(ctx, s.target, data, tableMeta{version: s.form.version}, v)
}
