package host

import (
	"context"
	"errors"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/image"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// Images is the image.Puller that keeps modules from registries in the store, if trusted
// lets them be the module of a name; it refuses with a *plugins.LoadError.
func (m *Host) Images(trusted func(ctx context.Context, name string, content []byte, beside *module.Beside) error) image.Puller {
	return images{m, oci.Client{MaxBytes: plugins.MaxModuleBytes, Registries: &m.registries}, trusted}
}

// Registries say how registries are reached.
func (m *Host) Registries() *oci.Registries { return &m.registries }

// CheckImage refuses what cannot be the name of an image, before anybody asks for
// it.
func CheckImage(image string) error {
	err := oci.CheckName(image)
	var refused *oci.Error
	if errors.As(err, &refused) {
		return errors.New(refused.Detail)
	}
	return err
}

// images implements image.Puller.
type images struct {
	host   *Host
	client oci.Client

	trusted func(ctx context.Context, name string, content []byte, beside *module.Beside) error
}

// Pull implements image.Puller.
func (i images) Pull(ctx context.Context, name, ref string, config []byte) (kept image.Kept, err error) {
	login := oci.Login{}
	if config != nil {
		if login, err = oci.ReadLogin(config); err != nil {
			return kept, &image.Refusal{Reason: "PullSecretInvalid", Message: err.Error()}
		}
	}
	artifact, err := i.client.Pull(ctx, ref, login)
	var failed *oci.Error
	if errors.As(err, &failed) {
		return kept, &image.Refusal{Reason: string(failed.Reason), Message: failed.Detail, Final: failed.Reason.Final(), Slow: failed.Reason == oci.RegistrySilent}
	}
	if err != nil {
		return kept, err
	}
	if err := refusal(i.host.Check(name, artifact.Module), true); err != nil { // it could never be used
		return kept, err
	}
	var all []signature.Signature
	for _, s := range artifact.Signatures {
		all = append(all, signature.Signature(s))
	}
	kept.Beside = module.NewBeside(artifact.ManifestText, all)
	if err := refusal(i.trusted(ctx, name, artifact.Module, kept.Beside), false); err != nil { // which may change
		if refused := (*image.Refusal)(nil); errors.As(err, &refused) {
			refused.Distrusted = true
		}
		return kept, err
	}
	kept.Mirror = artifact.Mirror
	kept.Manifest, kept.Digest = artifact.Manifest, i.host.Content().Digest(artifact.Module)
	return kept, i.keep(ctx, artifact.Module)
}

// keep puts the bytes into the store. What that does not take is tried as seldom
// as what did not come: each try fetches them again.
func (i images) keep(ctx context.Context, bytes []byte) error {
	err := i.host.Content().Put(ctx, bytes)
	switch {
	case errors.Is(err, module.ErrNoRoom):
		return &image.Refusal{Reason: "NoRoom", Message: err.Error() + "; delete modules, lower spec.revisionHistoryLimit, or raise --module-quota"}
	case err != nil && ctx.Err() == nil:
		return &image.Refusal{Reason: "NotKept", Message: "it came, and could not be stored: " + err.Error()}
	}
	return err
}

// refusal says of an image what an upload would be told.
func refusal(err error, final bool) error {
	var refused *plugins.LoadError
	if errors.As(err, &refused) {
		return &image.Refusal{Reason: string(refused.Reason), Message: refused.Detail, Final: final}
	}
	return err
}
