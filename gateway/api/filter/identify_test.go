package filter

import (
	"context"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

func TestBearerToken(t *testing.T) {
	for header, want := range map[string]string{
		"": "", "Bearer": "", "Bearer ": "", "Bearer x": "x", "bearer x": "x", "BEARER  x ": "x", "Basic x": "", "Bearerx": "", "x": "",
	} {
		if got := bearerToken(header); got != want {
			t.Errorf("%q: %q", header, got)
		}
	}
}

// noting believes a token, or not, and has something to say of it.
type noting bool

func (n noting) Authenticate(_ context.Context, r authn.Request) (*authn.User, bool, error) {
	r.Annotate("token", "old")
	r.Warn("an old token")
	r.Warn("an old token")
	r.Warn("replace it")
	return &authn.User{}, bool(n), nil
}

// What credentials say beside whom they show comes to the audit event and to the client,
// each warning once and before those of what is asked for.
func TestWhatIsNoteworthyOfCredentialsIsTold(t *testing.T) {
	for believed, want := range map[bool][]string{
		true:  {`299 - "an old token"`, `299 - "replace it"`, `299 - "deprecated"`},
		false: nil,
	} {
		c := &api.Call{Request: &api.Request{Authorization: "Bearer x"}, Record: &api.Audit{}}
		resp := identify(noting(believed), nil, zerolog.Nop())(func(context.Context, *api.Call) *reply.Response {
			return &reply.Response{Headers: []reply.Header{{Name: "Warning", Value: `299 - "deprecated"`}}}
		})(t.Context(), c)
		var got []string
		for _, h := range resp.Headers {
			if h.Name == "Warning" {
				got = append(got, h.Value)
			}
		}
		if !slices.Equal(got, want) || c.Record.Annotations["token"] != "old" {
			t.Errorf("believed %t: warned %q, annotated %v", believed, got, c.Record.Annotations)
		}
	}
}
