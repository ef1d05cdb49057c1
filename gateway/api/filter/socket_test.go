package filter

import (
	"net/http"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
)

type sentHead http.Header

func (h sentHead) Header() http.Header { return http.Header(h) }

// A token among the protocols of a WebSocket counts where there is no other; one that is
// sent as no client should is a wrong token, not none.
func TestTokensOfWebSockets(t *testing.T) {
	const secret = api.SocketBearer + "c2VjcmV0"
	socket := func(protocols ...string) http.Header {
		return http.Header{"Upgrade": {"WebSocket"}, "Sec-Websocket-Protocol": protocols}
	}
	for name, c := range map[string]struct {
		head          http.Header
		upgrade       bool
		authorization string
		want          string
	}{
		"among others":           {socket("talk, " + secret), true, "", "secret"},
		"in a header of its own": {socket(secret, "talk"), true, "", "secret"},
		"the header comes first": {socket(secret, "talk"), true, "Bearer other", "other"},
		"no upgrade":             {socket(secret, "talk"), false, "", ""},
		"another protocol":       {http.Header{"Upgrade": {"SPDY/3.1"}, "Sec-Websocket-Protocol": {secret, "talk"}}, true, "", ""},
		"none":                   {socket("talk"), true, "", ""},
		"alone":                  {socket(secret), true, "", api.SocketBearer},
		"twice":                  {socket(secret, "talk", api.SocketBearer+"b3RoZXI"), true, "", api.SocketBearer + "b3RoZXI"},
		"no base64":              {socket(api.SocketBearer+"!", "talk"), true, "", api.SocketBearer + "!"},
		"no text":                {socket(api.SocketBearer+"_w", "talk"), true, "", api.SocketBearer + "_w"},
	} {
		call := &api.Call{Request: &api.Request{Head: sentHead(c.head), Upgrade: c.upgrade, Authorization: c.authorization}}
		if got := shownToken(call); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
