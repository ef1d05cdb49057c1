package host

import (
	"context"
	"errors"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/image"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
	"github.com/wasmgate/wasmgate/plugins"
)

// Images is the image.Puller that keeps modules from registries in the store.
func (m *Host) Images() image.Puller {
	return images{m, oci.Client{MaxBytes: plugins.MaxModuleBytes}}
}

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
	if err := i.check(name, artifact.Module); err != nil {
		return kept, err
	}
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

// check refuses what could never be used, as for an upload.
func (i images) check(name string, bytes []byte) error {
	err := i.host.Check(name, bytes)
	var refused *plugins.LoadError
	if errors.As(err, &refused) {
		return &image.Refusal{Reason: string(refused.Reason), Message: refused.Detail, Final: true}
	}
	return err
}
