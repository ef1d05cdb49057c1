package server

import (
	"fmt"

	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/authz/structured"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// authorizers are who is asked whether a request is allowed, in order: administrators
// may do everything whatever the options say.
func (g *gateway) authorizers(served *catalog.Catalog) (authz.Decider, error) {
	known := modes(g.roles(served))
	if g.options.Structured() {
		return g.structured(known)
	}
	chain := authz.Chain{authz.Masters{}}
	for _, mode := range g.options.AuthorizationModes {
		if roles, ok := known[mode].(authz.Chain); ok { // without a step between
			chain = append(chain, roles...)
			continue
		}
		chain = append(chain, known[mode])
	}
	return chain, nil
}

// modes are the authorizers that are no webhooks, by their modes.
func modes(roles authz.Decider) map[string]authz.Decider {
	return map[string]authz.Decider{options.RBAC: roles, options.AlwaysAllow: authz.Always(true), options.AlwaysDeny: authz.Always(false)}
}

// roles decide by the objects of kinds.
func (g *gateway) roles(served *catalog.Catalog) (chain authz.Chain) {
	for _, k := range g.kinds {
		if k.Authorizer != nil {
			chain = append(chain, k.Authorizer(served))
		}
	}
	return chain
}

// structured is a chain that a file names, or that asks a webhook.
func (g *gateway) structured(known map[string]authz.Decider) (authz.Decider, error) {
	c, err := authorization(g.options, g.name, known)
	if err == nil {
		g.chain, err = structured.New(c)
	}
	if err != nil {
		return nil, err
	}
	g.metrics.IncludeLibrary("apiserver_authorization_")
	return g.chain, nil
}

// authorization is what the options say of such a chain.
func authorization(o options.Serve, gateway string, known map[string]authz.Decider) (structured.Config, error) {
	path, err := o.Authorization.WebhookConfig()
	if err != nil {
		return structured.Config{}, fmt.Errorf("--authorization-webhook-config-file: %w", err)
	}
	w := o.Authorization.Webhook
	return structured.Config{
		Path:  o.Authorization.ConfigFile,
		Flags: structured.Modes(o.AuthorizationModes, structured.Webhook{Path: path, Version: w.Version, AuthorizedTTL: w.AuthorizedTTL, UnauthorizedTTL: w.UnauthorizedTTL}),
		First: authz.Masters{}, Known: known, Gateway: gateway,
	}, nil
}
