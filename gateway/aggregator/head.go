package aggregator

import (
	"net/http"
	"strings"
	"unicode"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// Believed are headers that servers believe of who asks, besides those that this one
// sends: what clients say there is not passed on.
type Believed struct {
	// Names are whole names, Prefixes how some begin.
	Names, Prefixes []string
}

// private tells the headers that are meant for this server, credentials and whom the
// client wants to be, and those that are believed of it alone.
func (s *Servers) private(name string) bool {
	switch name = strings.ToLower(name); name {
	case "authorization", "content-length", "host":
		return true
	}
	for _, one := range s.Believed.Names {
		if strings.EqualFold(name, one) {
			return true
		}
	}
	begins := func(prefix string) bool { return strings.HasPrefix(name, strings.ToLower(prefix)) }
	for _, prefix := range s.Believed.Prefixes {
		if begins(prefix) {
			return true
		}
	}
	return begins("impersonate-") || begins("x-remote-")
}

// refuses is the answer to a request that would be another one behind this server, where
// it is read as it comes; nil where it would not.
func (b *server) refuses(c *api.Call) *reply.Response {
	switch {
	case c.Method == http.MethodConnect: // which has no path over HTTP/2
		return failure(http.StatusMethodNotAllowed, "a CONNECT is not passed on")
	case dotted(c.Request.Path):
		return failure(http.StatusBadRequest, "the path has a segment of dots, which leads elsewhere")
	case c.Request.Undecoded: // and was allowed, or not, as one segment
		return failure(http.StatusBadRequest, "the path has an encoded slash, which would be a border between segments behind this server")
	case !carried(c.User):
		return failure(http.StatusForbidden, "the user's name, or a fact about the user, cannot be told in headers as it is")
	}
	return nil
}

// dotted tells of a path that is another one once it is made clean: what was allowed
// would not be what is asked for.
func dotted(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// carried tells whether headers carry what is known of a user. They have no spaces around
// them, so that somebody else would arrive.
func carried(u *authn.User) bool {
	all := append([]string{u.Name, u.UID}, u.Groups...)
	for _, values := range u.Extra {
		all = append(all, values...)
	}
	for _, v := range all {
		if v != strings.Trim(v, " \t") || strings.ContainsFunc(v, unicode.IsControl) {
			return false
		}
	}
	return true
}

// hop takes off the headers that are about one connection.
func hop(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect"} {
		h.Del(name)
	}
}

// brokenReply is the answer in place of one that no client may have: who followed a
// redirect would show what it shows this server to whoever that names.
func brokenReply(resp *http.Response, upgrade bool) *reply.Response {
	switch code := resp.StatusCode; {
	case code < http.StatusContinue:
		return failure(http.StatusServiceUnavailable, "invalid response: the status code has no meaning")
	case !upgrade && code >= http.StatusMultipleChoices && code < http.StatusBadRequest && resp.Header.Get("Location") != "":
		return failure(http.StatusBadGateway, "the backend attempted to redirect this request, which is not permitted")
	}
	return nil
}

// headers are those of a reply that are passed on.
func headers(h http.Header) (out []reply.Header) {
	hop(h)
	for name, values := range h {
		switch name {
		case "Content-Type", "Content-Length", "Date", "Cache-Control", "Audit-Id":
			// This server says them itself.
		case "Warning", "Set-Cookie": // which cannot be one
			for _, v := range values {
				out = append(out, reply.Header{Name: name, Value: v})
			}
		default:
			out = append(out, reply.Header{Name: name, Value: strings.Join(values, ", ")})
		}
	}
	return out
}
