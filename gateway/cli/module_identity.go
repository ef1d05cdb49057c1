package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// identityFlags are who signs without a key. All but the first two are files.
type identityFlags struct {
	issuer, subject                 string
	trustedRoot, certificates, logs string
}

func (f *identityFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.issuer, "issuer", "", "`URL` of the issuer at which the signer logged in, for signatures without a key (Sigstore)")
	cmd.Flags().StringVar(&f.subject, "subject", "", "`name` of the signer in the certificate, for signatures without a key")
	cmd.Flags().StringVar(&f.trustedRoot, "trusted-root", "", "`file` trusted_root.json of Sigstore")
	cmd.Flags().StringVar(&f.certificates, "certificates", "", "PEM `file` with the root and intermediate certificates of the authority")
	cmd.Flags().StringVar(&f.logs, "logs", "", "PEM `file` with the public keys of transparency logs")
}

// given tells that any is set.
func (f *identityFlags) given() bool { return *f != identityFlags{} }

// check tells what is missing.
func (f *identityFlags) check() error {
	switch byPEM := f.certificates != "" && f.logs != ""; {
	case f.issuer == "" || f.subject == "":
		return errors.New("--issuer and --subject must be set together")
	case (f.trustedRoot != "") == byPEM || !byPEM && (f.certificates != "" || f.logs != ""):
		return errors.New("either --trusted-root, or --certificates and --logs: whose certificates and logs are believed")
	}
	return nil
}

func (f *identityFlags) read() (*workbench.Identity, error) {
	out := &workbench.Identity{Issuer: f.issuer, Subject: f.subject}
	for _, one := range []struct {
		file string
		text *[]byte
	}{{f.trustedRoot, &out.TrustedRoot}, {f.certificates, &out.Certificates}, {f.logs, &out.Logs}} {
		if one.file == "" {
			continue
		}
		text, err := named(one.file)
		if err != nil {
			return nil, err
		}
		*one.text = text
	}
	return out, nil
}
