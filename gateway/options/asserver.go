package options

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/gateway/pki/kubeconfig"
)

// UseCertDir takes from --cert-dir what other flags do not say: the serving
// certificate, apiserver.crt with apiserver.key, if both files are there, and with
// dataDir false, which tells that --data-dir was not given, the data directory, which
// is made below it.
func (s *Serve) UseCertDir(dataDir bool) error {
	if s.CertDir == "" {
		return nil
	}
	if !dataDir {
		s.DataDir = filepath.Join(s.CertDir, kubeconfig.DefaultDataDir)
	}
	if s.TLSCertFile != "" || s.TLSPrivateKeyFile != "" {
		return nil
	}
	cert, key := filepath.Join(s.CertDir, "apiserver.crt"), filepath.Join(s.CertDir, "apiserver.key")
	found := 0
	for _, file := range []string{cert, key} {
		if _, err := os.Stat(file); err == nil {
			found++
		} else if !os.IsNotExist(err) {
			return fmt.Errorf("--cert-dir: %w", err)
		}
	}
	if found == 1 {
		return fmt.Errorf("--cert-dir: of %s and %s one is missing", cert, key)
	}
	if found == 2 {
		s.TLSCertFile, s.TLSPrivateKeyFile = cert, key
	}
	return nil
}

// validateAsServer judges flags of kube-apiserver's that name what the gateway does
// not have. It refuses to be laxer than was asked for; modes that would allow more than
// it does are taken, with a warning.
func (s Serve) validateAsServer(bad func(flag, format string, args ...any)) {
	if !s.AllowPrivileged {
		bad("allow-privileged", "must be true: pods may have privileged containers here")
	}
	for _, mode := range s.AuthorizationModes {
		switch {
		case slices.Contains(laxerModes, mode):
		case slices.Contains(absentModes, mode):
			bad("authorization-mode", "there is no mode %s here; only members of system:masters are authorized", mode)
		default:
			bad("authorization-mode", "there is no mode %q", mode)
		}
	}
}

// laxerModes are modes that allow more than the gateway does, and refuse nothing
// that it allows; absentModes are kube-apiserver's others.
var (
	laxerModes  = []string{"RBAC", "Node"}
	absentModes = []string{"ABAC", "AlwaysAllow", "AlwaysDeny", "Webhook"}
)

// AuthorizationWarning tells that the authorization modes that were asked for do
// nothing; "" where none was.
func (s Serve) AuthorizationWarning() string {
	if len(s.AuthorizationModes) == 0 {
		return ""
	}
	return fmt.Sprintf("--authorization-mode=%s: there are no such modes here yet; only members of system:masters are authorized, and roles grant nothing", strings.Join(s.AuthorizationModes, ","))
}
