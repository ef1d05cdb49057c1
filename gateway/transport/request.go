package transport

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// handle is the only route.
func (s *Server) handle(c *fiber.Ctx) error {
	ctx := c.Context()
	return s.reply(ctx, s.options.Handler.Serve(request(ctx)))
}

// request copies what the handler may keep.
func request(ctx *fasthttp.RequestCtx) *api.Request {
	h := &ctx.Request.Header
	r := &api.Request{
		Method: string(h.Method()), Path: string(ctx.Path()), Query: string(ctx.URI().QueryString()),
		Accept: joined(h, fasthttp.HeaderAccept), ContentType: string(h.ContentType()),
		Authorization: string(h.Peek(fasthttp.HeaderAuthorization)), UserAgent: string(h.UserAgent()),
		IfNoneMatch: string(h.Peek(fasthttp.HeaderIfNoneMatch)),
	}
	if body := ctx.Request.Body(); len(body) > 0 {
		r.Body = append(make([]byte, 0, len(body)), body...)
	}
	if state := ctx.TLSConnectionState(); state != nil {
		r.ClientCerts = state.PeerCertificates
	}
	return r
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

// frameworkError answers what never became a request.
func (s *Server) frameworkError(c *fiber.Ctx, err error) error {
	code := http.StatusInternalServerError
	var fe *fiber.Error
	if errors.As(err, &fe) {
		code = fe.Code
	}
	reason, message := "BadRequest", err.Error()
	switch {
	case code == http.StatusRequestEntityTooLarge:
		reason, message = "RequestEntityTooLarge", "Request entity too large: limit is 3145728"
	case code == http.StatusMethodNotAllowed:
		reason, message = "MethodNotAllowed", "the server does not allow this method on the requested resource"
	case code >= 500:
		reason = "InternalError"
		s.options.Log.Error().Err(err).Str("path", c.Path()).Msg("request failed")
	}
	c.Context().Response.Header.SetContentType("application/json")
	c.Context().SetStatusCode(code)
	c.Context().Response.SetBodyString(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":` + quote(message) + `,"reason":"` + reason + `","code":` + itoa(code) + "}\n")
	return nil
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}
