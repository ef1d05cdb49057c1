package server

import (
	"context"
	"fmt"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// guarded reads what is in force whatever the API says, nothing if there is no file of it.
func guarded(ctx context.Context, g *gateway, builtins []*crd.Definition) (*guards.Guards, error) {
	if g.options.AdmissionControlConfigFile == "" {
		return nil, nil
	}
	log := g.log.With().Str("component", "guards").Logger()
	all, err := guards.New(ctx, guarding(g.options, builtins, func(plugin string, s *guards.State, err error) {
		g.metrics.Guards.InForce(plugin, kinds.Identity(g.name), s.Hash, err == nil)
		if err != nil {
			log.Error().Str("plugin", plugin).Err(err).Msg("a folder of guards cannot be used: what it said before is in force")
			return
		}
		log.Info().Str("plugin", plugin).Str("hash", s.Hash).Int("objects", len(s.Objects)).Msg("a folder of guards is in force")
	}))
	if err != nil {
		return nil, fmt.Errorf("--admission-control-config-file: %w", err)
	}
	return all, nil
}

// guarding is what guards are made of.
func guarding(o options.Serve, builtins []*crd.Definition, told func(plugin string, s *guards.State, err error)) guards.Config {
	return guards.Config{
		Path: o.AdmissionControlConfigFile, Allowed: o.Enabled(options.ManifestBasedAdmissionControlConfig), Admits: o.Admits, Definitions: builtins, Told: told,
	}
}
