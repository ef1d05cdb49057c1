package aggregator

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// by is how a request is sent.
func (b *server) by(c *api.Call) *http.Transport {
	if c.Upgrade {
		return b.upgrades
	}
	return b.transport
}

// forUpgrades is a transport like t that speaks HTTP/1.1, which alone has connections
// that change their protocol.
func forUpgrades(t *http.Transport) *http.Transport {
	t = t.Clone()
	t.ForceAttemptHTTP2, t.DisableKeepAlives = false, true
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.TLSClientConfig.NextProtos = []string{"http/1.1"}
	return t
}

// upgrading asks for other protocols. A token among those of WebSockets is meant for this
// server.
func upgrading(h http.Header, protocols []string) {
	h.Set("Connection", "Upgrade")
	for _, p := range protocols {
		h.Add("Upgrade", p)
	}
	var names []string
	for _, list := range h.Values("Sec-Websocket-Protocol") {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); !strings.HasPrefix(name, api.SocketBearer) {
				names = append(names, name)
			}
		}
	}
	if h.Del("Sec-Websocket-Protocol"); len(names) > 0 {
		h.Set("Sec-Websocket-Protocol", strings.Join(names, ", "))
	}
}

// upgraded is the reply of a server that may have changed the protocol: what comes from
// it goes to the client, and back, until either ends. One that did something else broke
// its word.
func upgraded(c *api.Call, resp *http.Response, end context.CancelFunc) *reply.Response {
	to, ok := resp.Body.(io.ReadWriteCloser)
	if !c.Upgrade || resp.StatusCode != http.StatusSwitchingProtocols || !ok {
		_ = resp.Body.Close()
		end()
		return failure(http.StatusServiceUnavailable, "invalid upgrade response: status code "+strconv.Itoa(resp.StatusCode))
	}
	out := &reply.Response{Code: resp.StatusCode, Takes: to}
	resp.Header.Del("Audit-Id") // which this server says itself
	for name, values := range resp.Header {
		for _, v := range values {
			out.Headers = append(out.Headers, reply.Header{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(out.Headers, func(a, b reply.Header) int { return strings.Compare(a.Name, b.Name) })
	out.Stream = func(ctx context.Context, w reply.FrameWriter) {
		defer end()
		defer to.Close()                                          //nolint:errcheck // nobody is left to tell
		defer context.AfterFunc(ctx, func() { _ = to.Close() })() // ends what waits in both directions
		_ = stream(w, to)                                         // the other protocol says itself how it ends
	}
	return out
}
