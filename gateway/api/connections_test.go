package api

import (
	"net"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// A connection is its user's from the first request that says who that is; a user who
// has too many is told so and loses the one that is too much. Who is nobody, is not
// known, or administers, is not counted as a user.
func TestConnectionsOfAUserAreBounded(t *testing.T) {
	w := newWorld(t)
	w.asked.Authorizer = trusting{}
	all := bounds.NewConnections(bounds.ConnectionLimits{PerUser: 1})
	ask := func(c *bounds.Connection, authorization string) *answer {
		r := request("GET", widgets, "", "Authorization: "+authorization)
		r.Connection = c
		return w.serve(r)
	}
	var connections []*bounds.Connection
	for range 4 {
		connections = append(connections, all.Open(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}))
	}
	identified := func(want int) {
		t.Helper()
		if got := all.Count().Identified; got != want {
			t.Errorf("%d connections are somebody's, not %d", got, want)
		}
	}
	ask(connections[0], "").want(200, "")
	ask(connections[0], "Bearer nobody").want(401, "")
	identified(0)
	ask(connections[0], "Bearer bob").want(200, "")
	ask(connections[0], "Bearer bob").want(200, "")
	refused := ask(connections[1], "Bearer bob").want(429, "--max-connections-per-user")
	if !slices.Contains(refused.Headers, reply.Header{Name: "Connection", Value: "close"}) {
		t.Errorf("the connection stays open: %v", refused.Headers)
	}
	identified(1)
	for _, c := range connections[1:] {
		ask(c, "Bearer admin").want(200, "")
	}
	identified(4)
	ask(connections[0], "Bearer admin").want(200, "") // a proxy's
	ask(connections[1], "Bearer bob").want(200, "")
	identified(4)
}
