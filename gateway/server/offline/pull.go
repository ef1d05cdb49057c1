package offline

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// Pull implements [workbench.Tools].
func (Tools) Pull(ctx context.Context, image workbench.Image) (workbench.Pulled, error) {
	registries, login := oci.Registries{}, oci.Login{}
	if image.Registries != "" {
		if _, err := registries.Read(image.Registries); err != nil {
			return workbench.Pulled{}, fmt.Errorf("--module-registries-file: %w", err)
		}
	}
	if image.Login != nil {
		var err error
		if login, err = oci.ReadLogin(image.Login); err != nil {
			return workbench.Pulled{}, fmt.Errorf("--pull-config: %w", err)
		}
	}
	had, err := oci.Client{MaxBytes: plugins.MaxModuleBytes, Registries: &registries}.Pull(ctx, image.Name, login)
	var failed *oci.Error
	switch {
	case errors.As(err, &failed) && failed.Reason == oci.ImageInvalid:
		return workbench.Pulled{}, err
	case err != nil:
		return workbench.Pulled{}, workbench.PullError{Err: err}
	}
	out := workbench.Pulled{Content: had.Module, Manifest: had.Manifest, ManifestText: had.ManifestText, Mirror: had.Mirror}
	for _, s := range had.Signatures {
		out.Signatures = append(out.Signatures, workbench.ImageSignature(s))
	}
	return out, nil
}

// Judge implements [workbench.Tools]. Which definitions a module converts for nobody knows
// here, so ModuleTrusts of any may mean it.
func (Tools) Judge(ctx context.Context, what workbench.Judged) (workbench.Trust, error) {
	policies := trust.New(nil)
	if err := policies.ReadFile(what.Trusts); err != nil {
		return workbench.Trust{}, fmt.Errorf("--module-trust-file: %w", err)
	}
	subject := trust.Subject{Name: what.Name}
	if i := what.Image; i != nil {
		var all []signature.Signature
		for _, s := range i.Signatures {
			all = append(all, signature.Signature(s))
		}
		subject.Beside = module.NewBeside(i.ManifestText, all).Remembering(nil)
	}
	verdict := policies.Judge(ctx, subject, trust.Examine(digest(what.Content), what.Content))
	out := workbench.Trust{Policies: verdict.Policies}
	for _, s := range verdict.Signers {
		out.SignedBy = append(out.SignedBy, workbench.Signer(s))
	}
	if verdict.Refused != nil {
		out.Problem = verdict.Refused.Reason + ": " + verdict.Refused.Message
	}
	return out, nil
}
