package server

import (
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// authorizers are who is asked whether a request is allowed, in order: administrators
// may do everything whatever --authorization-mode says.
func (g *gateway) authorizers(served *catalog.Catalog) authz.Decider {
	chain := authz.Chain{authz.Masters{}}
	for _, mode := range g.options.AuthorizationModes {
		switch mode {
		case options.RBAC:
			for _, k := range g.kinds {
				if k.Authorizer != nil {
					chain = append(chain, k.Authorizer(served))
				}
			}
		case options.AlwaysAllow, options.AlwaysDeny:
			chain = append(chain, authz.Always(mode == options.AlwaysAllow))
		}
	}
	return chain
}
