package transport

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// handle is the only route.
func (s *Server) handle(c *fiber.Ctx) error {
	s.answer(c.Context())
	return nil
}

// answer has the handler answer a request.
func (s *Server) answer(ctx *fasthttp.RequestCtx) {
	defer func() {
		if p := recover(); p != nil { // the handler has its own; this one keeps the process
			s.options.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("request failed")
			s.reply(ctx, reply.Failure(http.StatusInternalServerError, "this request caused apiserver to panic. Look in the logs for details"))
		}
	}()
	head := look(&ctx.Request.Header)
	if head.closes {
		ctx.SetConnectionClose()
	}
	if head.wrong != "" {
		ctx.SetConnectionClose()
		discardRest(ctx)
		at, _ := path(&ctx.Request.Header)
		s.refuse(ctx, Refusal{Method: string(ctx.Method()), Path: at, Code: cmp.Or(head.code, http.StatusBadRequest), Message: head.wrong})
		return
	}
	r := s.request(ctx)
	r.Upgrade = head.upgrades
	if head.impersonates {
		r.Impersonate = impersonation(&ctx.Request.Header)
	}
	b := bodyOf(ctx)
	r.Context, r.Head = &b.client, b
	if !b.over {
		r.ReadBody, r.BodyLength = b.read, b.length
		if b.conn != nil && (b.length == chunked || b.length > firstPiece) {
			r.OpenBody = b.open
		}
	}
	s.reply(ctx, s.options.Handler.Serve(r))
}

// request copies what the handler may keep. The body comes later, and the
// trailers that may follow it never become headers.
func (s *Server) request(ctx *fasthttp.RequestCtx) *api.Request {
	h := &ctx.Request.Header
	var first said
	last := &first
	c, ours := ctx.Conn().(*conn)
	var counted *bounds.Connection
	if ours {
		last, counted = &c.said, c.counted
	}
	at, decoded := path(h)
	r := &api.Request{
		Path: at, Undecoded: !decoded, Query: string(ctx.URI().QueryString()),
		Method: last.method.of(h.Method()), Accept: last.accept.of(joined(h, fasthttp.HeaderAccept)),
		AcceptEncoding: last.acceptEncoding.of(joined(h, fasthttp.HeaderAcceptEncoding)),
		ContentType:    last.contentType.of(h.ContentType()), UserAgent: last.userAgent.of(h.UserAgent()),
		Authorization: last.authorization.of(h.Peek(fasthttp.HeaderAuthorization)),
		Remote:        ctx.RemoteAddr(), Connection: counted,
		ID: string(h.Peek("Audit-Id")), IfNoneMatch: string(h.Peek(fasthttp.HeaderIfNoneMatch)),
		ForwardedFor: string(h.Peek(fasthttp.HeaderXForwardedFor)), RealIP: string(h.Peek("X-Real-Ip")),
	}
	if s.options.TLS.ClientAuth != tls.NoClientCert { // asking costs a copy of all that is known
		if state := ctx.TLSConnectionState(); state != nil {
			r.ClientCerts = state.PeerCertificates
		}
	}
	return r
}

// said are the headers that a client repeats with each request on a
// connection: the same bytes become the same string, without a copy.
type said struct{ method, accept, acceptEncoding, contentType, authorization, userAgent repeated }

// repeated is a value that is likely to come again.
type repeated string

// of is the string of b.
func (t *repeated) of(b []byte) string {
	if string(b) != string(*t) { // compares in place
		*t = repeated(b)
	}
	return string(*t)
}

// extraPrefix begins the headers that carry extra facts about an identity.
const extraPrefix = "impersonate-extra-"

// impersonation reads the headers that ask for another identity.
func impersonation(h *fasthttp.RequestHeader) *api.Impersonation {
	var out api.Impersonation
	for k, v := range h.All() {
		name, value := strings.ToLower(string(k)), string(v)
		key, extra := strings.CutPrefix(name, extraPrefix)
		switch {
		case extra:
			if decoded, err := url.PathUnescape(key); err == nil {
				key = decoded
			}
			if out.Extra == nil {
				out.Extra = map[string][]string{}
			}
			out.Extra[key] = append(out.Extra[key], value)
		case name == "impersonate-user" && out.User == "":
			out.User = value
		case name == "impersonate-uid" && out.UID == "":
			out.UID = value
		case name == "impersonate-group":
			out.Groups = append(out.Groups, value)
		}
	}
	if out.User == "" && out.UID == "" && out.Groups == nil && out.Extra == nil {
		return nil
	}
	return &out
}

// joined is a header that may be repeated.
func joined(h *fasthttp.RequestHeader, name string) []byte {
	all := h.PeekAll(name)
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return bytes.Join(all, []byte(", "))
}

// path is the decoded path, in which no segment has a meaning of its own: an
// encoded slash, which would move the borders of the segments, leaves the path
// as it was sent, and so addresses nothing.
func path(h *fasthttp.RequestHeader) (path string, decoded bool) {
	raw := string(rawPath(h))
	if !strings.ContainsRune(raw, '%') {
		return raw, true
	}
	path, err := url.PathUnescape(raw)
	if err != nil || strings.Count(path, "/") != strings.Count(raw, "/") {
		return raw, false
	}
	return path, true
}

// rawPath is the path as it was sent, in the memory of the head.
func rawPath(h *fasthttp.RequestHeader) []byte {
	uri := h.RequestURI()
	if len(uri) > 0 && uri[0] != '/' {
		uri, _ = withoutHost(uri)
	}
	path, _, _ := bytes.Cut(uri, []byte("?"))
	return path
}

// refusals are the answers to what never became a request. What was sent is
// in none of them, nor in the log: it may hold a token.
var refusals = map[int]string{
	http.StatusBadRequest:                  "the request is malformed",
	http.StatusRequestTimeout:              "the request did not arrive in time",
	http.StatusRequestHeaderFieldsTooLarge: fmt.Sprintf("the request line and the headers together are larger than %d bytes", readBuffer),
}

// frameworkError answers what never became a request.
func (s *Server) frameworkError(c *fiber.Ctx, err error) error {
	code := http.StatusInternalServerError
	var fe *fiber.Error
	if errors.As(err, &fe) {
		code = fe.Code
	}
	message, known := refusals[code]
	if !known {
		message = http.StatusText(code)
	}
	ctx := c.Context()
	if over, ours := ctx.Conn().(*conn); ours && !over.heard {
		_ = over.Conn.Close() // who asked for nothing expects no answer
		return nil
	}
	if code == http.StatusRequestHeaderFieldsTooLarge {
		discardRest(ctx)
	}
	s.options.Log.Debug().Int("code", code).Str("reason", message).Msg("request not read")
	s.refuse(ctx, Refusal{Code: code, Message: message})
	return nil
}

// discardRest has the connection take in what the client still sends.
func discardRest(ctx *fasthttp.RequestCtx) {
	if c, ok := ctx.Conn().(*conn); ok {
		c.unread = true
	}
}
