package api

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// bookmarkInterval is how often a client that allows bookmarks gets one if
// nothing else is configured.
const bookmarkInterval = time.Minute

// watch answers a watch: what can be refused is refused before the stream
// begins; a start that is too old, or not reached yet, is an ERROR event in it, as
// kube-apiserver does it.
func (h *Handler) watch(ctx context.Context, c *Call, t resource.Target) (*reply.Response, error) {
	asked := time.Now()
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	if !f.Streams() {
		return nil, c.offer(t).Unstreamed()
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
	t.Whole = f.Whole()
	w, err := h.Engine.Watch(sctx, t, o)
	cancel()
	if err != nil && !apierrors.IsResourceExpired(err) && !apierrors.IsTimeout(err) {
		return nil, err
	}
	if err := hold(c, w.Held()); err != nil {
		w.Stop()
		return nil, err
	}
	lasts, bookmarks := lifetime(o, h.MinWatchTimeout), time.Duration(0)
	if o.AllowWatchBookmarks {
		bookmarks = cmp.Or(h.BookmarkInterval, bookmarkInterval)
	}
	var said warnings
	if err == nil {
		said.missing(t, w.Missing)
	}
	begun := func(sent bool) {
		c.Seat.Leave()
		if !sent {
			return
		}
		if c.Stay.Begun(); w.InitialEnd {
			h.Observer.Listed(&c.Info, c.Outside()+time.Since(asked))
		}
	}
	send := func(ctx context.Context, out reply.FrameWriter) {
		c.Seat.Sends() // who takes little at a time does not keep others waiting
		ctx, cancel := context.WithTimeout(ctx, lasts)
		defer cancel()
		form.NewStream(f, t, v, bookmarks, h.Observer.Watching(&c.Info), begun).Send(ctx, w, err, out)
	}
	if headers := socketOf(c); headers != nil {
		r, refused := f.Socket(headers, form.SocketProtocol(headers, SocketBearer), send)
		if refused != nil {
			w.Stop()
		}
		return said.on(r, refused)
	}
	return said.on(f.Response(send), nil)
}

// hold takes memory for what a watch begins with.
func hold(c *Call, n int) error {
	if err := c.Stay.Begin(n); err != nil {
		c.Refuse()
		return apierrors.NewTooManyRequests(err.Error(), reply.RetryAfter)
	}
	return nil
}

// socketOf are the headers of a request for a WebSocket, nil of any other.
func socketOf(c *Call) http.Header {
	if !c.Upgrade {
		return nil
	}
	if h := c.Head.Header(); strings.EqualFold(h.Get("Upgrade"), "websocket") {
		return h
	}
	return nil
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

// lifetime is how long a watch may last: what it says, or from least to twice that.
func lifetime(o *internalversion.ListOptions, least time.Duration) time.Duration {
	if s := o.TimeoutSeconds; s != nil && *s > 0 {
		return time.Duration(min(*s, int64(maxLifetime/time.Second))) * time.Second
	}
	return least + rand.N(least+1)
}
