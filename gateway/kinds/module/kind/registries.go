package kind

import (
	"context"
	"fmt"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/host"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
)

// LookAtTrust tells why a file of ModuleTrusts cannot be used.
func LookAtTrust(file string) error { return readTrust(trust.New(nil), file) }

// LookAtRegistries tells why a file of registries cannot be used.
func LookAtRegistries(file string) error { return readRegistries(new(host.Host), file) }

// readTrust puts a file of policies in force, where there is one.
func readTrust(p *trust.Policies, file string) error {
	if file == "" {
		return nil
	}
	if err := p.ReadFile(file); err != nil {
		return fmt.Errorf("--module-trust-file: %s: %w", file, err)
	}
	return nil
}

// readRegistries puts a file of registries in force, where there is one.
func readRegistries(in *host.Host, file string) error {
	if file == "" {
		return nil
	}
	if _, err := in.Registries().Read(file); err != nil {
		return fmt.Errorf("--module-registries-file: %s: %w", file, err)
	}
	return nil
}

// followRegistries keeps the file in force.
func (m *Modules) followRegistries(ctx context.Context) {
	file := m.config.Options.ModuleRegistriesFile
	if file == "" {
		return
	}
	log := m.config.Log.With().Str("component", "modules").Logger()
	m.Registries().Follow(ctx, file, func(err error) {
		if err != nil {
			log.Error().Err(err).Msg("the file of --module-registries-file, or one that it names, cannot be read again: what it said before still counts")
			return
		}
		log.Info().Msg("the file of --module-registries-file has changed and counts as it is now")
	})
}
