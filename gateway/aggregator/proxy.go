package aggregator

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/transport"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// Serve implements api.Remote: it passes a request on, in the name of whose it is.
func (b *server) Serve(ctx context.Context, c *api.Call) *reply.Response {
	if !b.available {
		return failure(http.StatusServiceUnavailable, "service unavailable")
	}
	if b.unusable != nil {
		return failure(http.StatusInternalServerError, b.unusable.Error())
	}
	head := c.Head.Header()
	if b.of.passedOn(head) {
		return failure(http.StatusLoopDetected, "the request was passed on by this server before: the APIService "+b.name+" leads back to it")
	}
	if refused := b.refuses(c); refused != nil {
		return refused
	}
	host, err := b.of.resolve(ctx, b.spec.Service)
	if err != nil {
		b.of.Log.Warn().Err(err).Str("apiservice", b.name).Msg("the service of an APIService is not found")
		return failure(http.StatusServiceUnavailable, "service unavailable")
	}
	// The reply is read after ctx has ended, which lasts as long as this call.
	life, end := context.WithCancel(context.Background())
	left := context.AfterFunc(ctx, end)
	r := b.request(life, c, head, host)
	resp, err := b.by(c).RoundTrip(r)
	if err != nil || !left() {
		end()
		if err == nil {
			_ = resp.Body.Close()
			err = context.Cause(ctx)
		}
		if from, ok := r.Body.(*sent); ok {
			if unread := from.failed(); unread != nil { // which is the client's affair
				return reply.Error(unread)
			}
		}
		return failure(http.StatusServiceUnavailable, err.Error())
	}
	if broken := brokenReply(resp, c.Upgrade); broken != nil {
		_ = resp.Body.Close()
		end()
		return broken
	}
	if c.Upgrade && resp.StatusCode < http.StatusBadRequest || resp.StatusCode == http.StatusSwitchingProtocols {
		return upgraded(c, resp, end)
	}
	out := &reply.Response{Code: resp.StatusCode, ContentType: resp.Header.Get("Content-Type"), Headers: headers(resp.Header)}
	body := &passed{ReadCloser: resp.Body, end: end}
	if c.Method == http.MethodHead {
		_ = body.Close() // nothing is in it
		return ofLength(out, resp.ContentLength)
	}
	if c.Lasts() && resp.StatusCode == http.StatusOK {
		return streamed(c, out, body)
	}
	body.timer = time.AfterFunc(cmp.Or(c.Timeout, time.Minute), end)
	out.Reader = body
	return out
}

// ofLength makes out the reply to a HEAD: of a body that is not sent, whose length the
// server may not have said.
func ofLength(out *reply.Response, n int64) *reply.Response {
	if n >= 0 {
		out.Length, out.Write = int(n), func(io.Writer) error { return nil }
	}
	return out
}

// failure is what kube-apiserver says in plain words.
func failure(code int, message string) *reply.Response {
	return &reply.Response{Code: code, ContentType: "text/plain; charset=utf-8", Body: []byte(message + "\n"), Headers: []reply.Header{reply.NoSniff}}
}

// passedOn tells that a request with these headers was here before, as somebody behind
// this server passed it on.
func (s *Servers) passedOn(h http.Header) bool {
	return slices.ContainsFunc(h.Values("Via"), func(by string) bool { return strings.Contains(by, s.via) })
}

// passing says in the headers that a request was here.
func (s *Servers) passing(h http.Header) {
	h.Set("Via", strings.TrimPrefix(strings.Join(h.Values("Via"), ", ")+", 1.1 "+s.via, ", "))
}

// request is the one that is sent, with what is sent on of the headers.
func (b *server) request(ctx context.Context, c *api.Call, head http.Header, host string) *http.Request {
	at := url.URL{Scheme: "https", Host: host, Path: c.Request.Path, RawQuery: c.Query}
	r := (&http.Request{Method: c.Method, URL: &at, Host: host, Header: head, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	if c.Coming != nil {
		r.Body, r.ContentLength = &sent{ReadCloser: c.Coming}, c.Length
	}
	if len(c.Body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(c.Body)), int64(len(c.Body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.Body)), nil }
	}
	for name := range r.Header {
		if b.of.private(name) {
			r.Header.Del(name)
		}
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "") // which has none made up
	}
	upgrade := r.Header.Values("Upgrade")
	hop(r.Header)
	if c.Upgrade {
		upgrading(r.Header, upgrade)
	}
	b.of.passing(r.Header)
	r.Header.Set("Audit-Id", c.ID)
	if c.Remote != nil {
		if ip, _, err := net.SplitHostPort(c.Remote.String()); err == nil {
			r.Header.Set("X-Forwarded-For", strings.TrimPrefix(strings.Join(r.Header.Values("X-Forwarded-For"), ", ")+", "+ip, ", "))
		}
	}
	transport.SetAuthProxyHeaders(r, c.User.Name, c.User.UID, c.User.Groups, c.User.Extra)
	return r
}

// passed is the body of a reply, which ends what was begun for it.
type passed struct {
	io.ReadCloser
	end   context.CancelFunc
	timer *time.Timer
}

// Read implements [io.Reader].
func (p *passed) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		p.ended()
	}
	return n, err
}

// Close implements [io.Closer].
func (p *passed) Close() error {
	p.ended()
	return p.ReadCloser.Close()
}

func (p *passed) ended() {
	if p.timer != nil {
		p.timer.Stop()
	}
	p.end()
}

// streamed makes out a stream of what comes.
func streamed(c *api.Call, out *reply.Response, body *passed) *reply.Response {
	var broken error
	out.Stream = func(ctx context.Context, w reply.FrameWriter) {
		defer body.Close() //nolint:errcheck // nobody is left to tell
		defer context.AfterFunc(ctx, body.end)()
		if broken = stream(w, body); ctx.Err() != nil && c.Verb == "watch" {
			broken = nil // its client is to go on from there
		}
	}
	out.Broke = func() bool { return broken != nil }
	return out
}

// stream passes on what comes as soon as it is there, and tells why it broke off. Whoever
// takes nothing is waited for, as the server waits then: all that is held meanwhile is what
// it sent before.
func stream(w reply.FrameWriter, from io.Reader) error {
	w.Hold(func() bool { return true })
	if w.Flush() != nil { // the head, which says that it begins
		return nil
	}
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if _, werr := w.Write(b[:n]); werr != nil || w.Flush() != nil {
				return nil // nobody is left to tell
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
