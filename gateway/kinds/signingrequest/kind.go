package signingrequest

import (
	"fmt"
	"path/filepath"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Files are those of the authority that signs.
func Files(o options.Serve) []options.File {
	said := o.ClusterSigning
	return []options.File{{Flag: "cluster-signing-cert-file", Paths: []string{said.CertFile, said.KeyFile}, Look: func() error {
		_, err := ReadAuthority(said.CertFile, said.KeyFile)
		return err
	}}}
}

// Kind is that of CertificateSigningRequests.
func Kind(c kinds.Config) kinds.Kind {
	if !c.Has(requests) {
		return kinds.Kind{}
	}
	return kinds.Kind{
		Admission: func(_ *engine.Engine, may authz.Decider) ([]admission.Plugin, error) {
			return []admission.Plugin{Approval{may}, Signing{may}, Subject{}}, nil
		},
		Serve: func(e *engine.Engine) (kinds.Served, error) {
			said := c.Options.ClusterSigning
			certFile, keyFile := said.CertFile, said.KeyFile
			if certFile == "" {
				var err error
				if certFile, keyFile, err = pki.ClientAuthority(filepath.Join(c.Options.DataDir, "pki")); err != nil {
					return kinds.Served{}, err
				}
			}
			authority := func() (*Authority, error) { return ReadAuthority(certFile, keyFile) }
			if _, err := authority(); err != nil {
				return kinds.Served{}, fmt.Errorf("--cluster-signing-cert-file: %w", err)
			}
			return kinds.Served{Controllers: func() []kinds.Controller {
				objects := local.Part(e, "certificates")
				return []kinds.Controller{
					{Switch: options.CertificateSigning, Controller: &Signer{Objects: objects, Authority: authority, Longest: said.Duration}},
					{Switch: options.CertificateCleaner, Controller: &Cleaner{Objects: objects}},
				}
			}}, nil
		},
	}
}
