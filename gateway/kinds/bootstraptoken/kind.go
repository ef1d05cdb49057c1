package bootstraptoken

import (
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of the Secrets, where the options say that they are believed.
func Kind(c kinds.Config) kinds.Kind {
	if !c.Options.Authentication.BootstrapTokens || !c.Has(secrets) {
		return kinds.Kind{}
	}
	return kinds.Kind{Serve: func(e *engine.Engine) (kinds.Served, error) {
		objects := local.Part(e, "bootstrap-tokens")
		return kinds.Served{Authenticators: []authn.Authenticator{Tokens{Objects: objects}}, Controllers: func() []kinds.Controller {
			return []kinds.Controller{{Switch: options.TokenCleaner, Controller: &Cleaner{Objects: objects}}}
		}}, nil
	}}
}
