package filter

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// shownToken is the token that a request shows, or "".
func shownToken(c *api.Call) string {
	if token := bearerToken(c.Authorization); token != "" || !c.Upgrade {
		return token
	}
	return socketToken(c.Head.Header())
}

// socketToken is the token that a WebSocket has among its protocols, where browsers put
// it, which can set no other headers. What should be one and cannot be, or comes without
// another protocol or twice, is returned as it is, and so is a wrong one.
func socketToken(h http.Header) (token string) {
	if !strings.EqualFold(h.Get("Upgrade"), "websocket") {
		return ""
	}
	others := false
	for _, list := range h.Values("Sec-Websocket-Protocol") {
		for name := range strings.SplitSeq(list, ",") {
			encoded, found := strings.CutPrefix(strings.TrimSpace(name), api.SocketBearer)
			switch {
			case !found:
				others = true
			case token != "":
				return name
			default:
				b, err := base64.RawURLEncoding.DecodeString(encoded)
				if err != nil || !utf8.Valid(b) {
					return name
				}
				token = string(b)
			}
		}
	}
	if token != "" && !others {
		return api.SocketBearer
	}
	return token
}
