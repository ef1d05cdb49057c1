package transport

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// handle is the only route.
func (s *Server) handle(c *fiber.Ctx) (err error) {
	defer func() {
		if p := recover(); p != nil { // the handler has its own; this one keeps the process
			s.options.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("request failed")
			err = fiber.NewError(http.StatusInternalServerError, "this request caused apiserver to panic. Look in the logs for details")
		}
	}()
	ctx := c.Context()
	r := request(ctx)
	r.Body = body(ctx)
	s.reply(ctx, s.options.Handler.Serve(r))
	return nil
}

// request copies what the handler may keep, except for the body.
func request(ctx *fasthttp.RequestCtx) *api.Request {
	h := &ctx.Request.Header
	r := &api.Request{
		Method: string(h.Method()), Path: path(h), Query: string(ctx.URI().QueryString()),
		Accept: joined(h, fasthttp.HeaderAccept), ContentType: string(h.ContentType()),
		Authorization: string(h.Peek(fasthttp.HeaderAuthorization)), UserAgent: string(h.UserAgent()),
		IfNoneMatch: string(h.Peek(fasthttp.HeaderIfNoneMatch)), Impersonate: impersonation(h),
	}
	if state := ctx.TLSConnectionState(); state != nil {
		r.ClientCerts = state.PeerCertificates
	}
	return r
}

// ownBody is the size from which a body is taken away from the framework,
// which would otherwise keep the memory for the next request.
const ownBody = 64 << 10

// body is the request's body, in memory of its own.
func body(ctx *fasthttp.RequestCtx) []byte {
	switch b := ctx.Request.Body(); {
	case len(b) == 0:
		return nil
	case len(b) >= ownBody:
		return ctx.Request.SwapBody(nil)
	default:
		return bytes.Clone(b)
	}
}

// impersonation reads the headers that ask for another identity.
func impersonation(h *fasthttp.RequestHeader) *api.Impersonation {
	user, uid, groups := h.Peek("Impersonate-User"), h.Peek("Impersonate-Uid"), h.PeekAll("Impersonate-Group")
	if user == nil && uid == nil && len(groups) == 0 {
		return nil
	}
	out := &api.Impersonation{User: string(user), UID: string(uid)}
	for _, g := range groups {
		out.Groups = append(out.Groups, string(g))
	}
	return out
}

// joined is a header that may be repeated.
func joined(h *fasthttp.RequestHeader, name string) string {
	all := h.PeekAll(name)
	switch len(all) {
	case 0:
		return ""
	case 1:
		return string(all[0])
	}
	return string(bytes.Join(all, []byte(", ")))
}

// path is the decoded path, in which no segment has a meaning of its own: an
// encoded slash, which would move the borders of the segments, leaves the path
// as it was sent, and so addresses nothing.
func path(h *fasthttp.RequestHeader) string {
	raw := rawPath(h)
	if !strings.ContainsRune(raw, '%') {
		return raw
	}
	decoded, err := url.PathUnescape(raw)
	if err != nil || strings.Count(decoded, "/") != strings.Count(raw, "/") {
		return raw
	}
	return decoded
}

// rawPath is the path as it was sent.
func rawPath(h *fasthttp.RequestHeader) string {
	path, _, _ := bytes.Cut(h.RequestURI(), []byte("?"))
	return string(path)
}

// frameworkError answers what never became a request.
func (s *Server) frameworkError(c *fiber.Ctx, err error) error {
	code := http.StatusInternalServerError
	var fe *fiber.Error
	if errors.As(err, &fe) {
		code = fe.Code
	}
	ctx := c.Context()
	switch code {
	case http.StatusRequestEntityTooLarge:
		s.refuseBody(ctx)
		return nil
	case http.StatusRequestHeaderFieldsTooLarge:
		err = fmt.Errorf("the request line and the headers together are larger than %d bytes", readBuffer)
		discardRest(ctx)
	}
	s.options.Log.Debug().Err(err).Int("code", code).Msg("request not read")
	s.reply(ctx, api.Failure(code, err.Error()))
	return nil
}

// refuseBody answers a request whose body was too large to be read. Whether
// the client may know that is the handler's business.
func (s *Server) refuseBody(ctx *fasthttp.RequestCtx) {
	discardRest(ctx)
	r := request(ctx)
	r.BodyRefused = s.bodyLimit(&ctx.Request.Header)
	s.reply(ctx, s.options.Handler.Serve(r))
}

// discardRest has the connection take in what the client still sends.
func discardRest(ctx *fasthttp.RequestCtx) {
	if c, ok := ctx.Conn().(*conn); ok {
		c.unread = true
	}
}
