package kind

import (
	"context"
	"strings"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// trusting are the modules, of which none is loaded for a trial or a proof that the
// policies do not let serve: it is not to run at all.
type trusting struct {
	*Modules
	objects client.Getter
}

// Set loads a revision beside the module that serves; its name is that one's, and more
// after an @.
func (t trusting) Set(ctx context.Context, name string, rev plugins.Revision) error {
	of, _, _ := strings.Cut(name, "@")
	if err := t.trusts(ctx, of, rev.Bytes, nil); err != nil {
		return err
	}
	return t.Modules.Set(ctx, name, rev)
}

// trusts refuses content that may not be the module of a name. beside vouches for it, nil
// for what the module says itself.
func (t trusting) trusts(ctx context.Context, name string, content []byte, beside *module.Beside) error {
	obj, err := t.objects.Get(ctx, gvr.Modules, "", name)
	if err != nil {
		return err
	}
	return t.trust.CheckPulled(ctx, obj, content, beside)
}

// followTrust keeps the file of policies in force.
func (m *Modules) followTrust(ctx context.Context) {
	file := m.config.Options.ModuleTrustFile
	if file == "" {
		return
	}
	log := m.config.Log.With().Str("component", "modules").Logger()
	m.trust.Follow(ctx, file, func(err error) {
		if err != nil {
			log.Error().Err(err).Msg("the file of --module-trust-file cannot be read again: what it said before still counts")
			return
		}
		log.Info().Msg("the file of --module-trust-file has changed and counts as it is now")
	})
}
