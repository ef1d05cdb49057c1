package accessreview

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
)

// Kind is that of reviews, which say who somebody is, and what is allowed.
func Kind(c kinds.Config) kinds.Kind {
	return kinds.Kind{Serve: func(*engine.Engine) (kinds.Served, error) {
		return kinds.Served{Reviews: func(who authn.Authenticator, may authz.Decider) map[schema.GroupResource]api.Review {
			return Answers{Authenticator: who, Audiences: options.Audiences(c.Options), Decider: may}.All()
		}}, nil
	}}
}
