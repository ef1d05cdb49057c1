package server

import (
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/authz/rbac"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac/inforce"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// authorizers are who is asked whether a request is allowed, in order: administrators
// may do everything whatever --authorization-mode says.
func (g *gateway) authorizers(served *catalog.Catalog) authz.Decider {
	chain := authz.Chain{authz.Masters{}}
	for _, mode := range g.options.AuthorizationModes {
		switch mode {
		case options.RBAC:
			chain = append(chain, rbac.Authorizer{Source: inforce.New(served, g.log)})
		case options.AlwaysAllow, options.AlwaysDeny:
			chain = append(chain, authz.Always(mode == options.AlwaysAllow))
		}
	}
	return chain
}
