package accounting

import (
	"context"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// BenchmarkCounting is what counting adds to a request: who asks, whether they may, and
// the request itself.
func BenchmarkCounting(b *testing.B) {
	m, ann := metrics.New(), knows{user: &authn.User{Name: "ann"}}
	who, may, o := Authenticator{ann, m.Access}, Authorizer{ann, m.Access}, New(m)
	i := &api.Info{Verb: "get", Version: "v1", Plural: "configmaps", Namespace: "x", Name: "n"}
	for name, one := range map[string]func(){
		"authentication": func() { _, _, _ = who.Authenticate(context.Background(), authn.Request{BearerToken: "t"}) },
		"authorization":  func() { _, _, _ = may.Authorize(context.Background(), authz.Attributes{}) },
		"request":        func() { o.Begin(i, false)(api.Outcome{Code: 200, Sent: 100}) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				one()
			}
		})
	}
}
