package kind

import (
	"context"
	"fmt"
)

// readRegistries puts the file of registries in force, where there is one.
func (m *Modules) readRegistries() error {
	file := m.config.Options.ModuleRegistriesFile
	if file == "" {
		return nil
	}
	if _, err := m.Registries().Read(file); err != nil {
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
