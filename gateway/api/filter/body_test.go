package filter

import (
	"errors"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// Bodies are read of requests that have a meaning for one; who sends one along with a
// question keeps it. What ends the reading ends the request.
func TestBodiesOfQuestionsAreNotRead(t *testing.T) {
	cut := errors.New("the client is gone")
	for _, c := range []struct {
		resource bool
		verb     string
		want     bool
	}{
		{true, "create", true}, {true, "update", true}, {true, "patch", true}, {true, "delete", true}, {true, "deletecollection", true},
		{true, "get", false}, {true, "list", false}, {true, "watch", false},
		{false, "create", false}, {false, "post", false}, {false, "get", false},
	} {
		asked := 0
		call := &api.Call{Request: &api.Request{ReadBody: func(most int) ([]byte, error) {
			if asked++; most != 1000 {
				t.Errorf("%s: %d bytes may be read", c.verb, most)
			}
			return nil, cut
		}}, Info: api.Info{Resource: c.resource, Verb: c.verb}}
		err := readBody(call, 1000)
		if read := asked == 1; read != c.want || errors.Is(err, cut) != c.want || err != nil && !c.want || call.ReadBody != nil {
			t.Errorf("%s of a resource: %t, read %d times, %v", c.verb, c.resource, asked, err)
		}
	}
}
