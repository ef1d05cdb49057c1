package kind

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
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
	if err := t.trusts(ctx, plugins.NameOf(name), rev.Bytes, nil); err != nil {
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

// distrusted tells why the policies do not let a module serve what an object of a name is
// to have it do: the content that serves, or else that the module asks for. Content that
// cannot be had is judged when it can be.
func (t trusting) distrusted(ctx context.Context, ref module.Reference, by string) (why string, err error) {
	if t.trust.Count(ctx) == 0 {
		return "", nil
	}
	obj, err := t.objects.Get(ctx, gvr.Modules, "", ref.Module)
	if err != nil {
		return "", gvr.IgnoreNotFound(err)
	}
	content, digest := t.serves(ctx, obj)
	if content == nil {
		return "", nil
	}
	s := trust.SubjectOf(obj)
	if ref.Hook == plugins.Convert {
		s.Binding = by
	}
	v := t.trust.Judge(ctx, s, trust.Examine(digest, content))
	if v.Refused == nil {
		return "", nil
	}
	return v.Refused.Reason + ": " + v.Refused.Message, nil
}

// serves is the content that serves, or else that a module asks for; nil for none.
func (t trusting) serves(ctx context.Context, obj *unstructured.Unstructured) (content []byte, digest string) {
	wanted, _ := module.Wanted(obj, t.Content().Digest)
	if status, _ := t.Status(obj.GetName()); status.Serving != nil {
		digest = status.Serving.Digest
	} else if wanted != nil {
		digest = wanted.Digest
	}
	if wanted != nil && wanted.Bytes != nil && wanted.Digest == digest {
		return wanted.Bytes, digest
	}
	content, err := t.Content().Get(ctx, digest)
	if err != nil {
		return nil, ""
	}
	return content, digest
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
