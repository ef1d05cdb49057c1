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
	if len(s.AuthorizationModes) == 0 {
		bad("authorization-mode", "at least one mode must be given: %s", strings.Join(modes, ", "))
	}
	for i, mode := range s.AuthorizationModes {
		instead, absent := absentModes[mode]
		switch {
		case slices.Contains(s.AuthorizationModes[:i], mode):
			bad("authorization-mode", "%s is given more than once", mode)
		case slices.Contains(modes, mode):
		case absent:
			bad("authorization-mode", "there is no mode %s here: %s", mode, instead)
		default:
			bad("authorization-mode", "there is no mode %q; there are %s", mode, strings.Join(modes, ", "))
		}
	}
}

// The modes of authorization.
const (
	RBAC        = "RBAC"
	AlwaysAllow = "AlwaysAllow"
	AlwaysDeny  = "AlwaysDeny"
	Webhook     = "Webhook"
)

var modes = []string{RBAC, Webhook, AlwaysAllow, AlwaysDeny}

// absentModes are kube-apiserver's others, with what does instead.
var absentModes = map[string]string{
	"Node": "no kubelets are served; leave it out and give RBAC",
	"ABAC": "write what its file says as roles and bindings, and give RBAC",
}

// AllowsAnonymous reports whether requests without credentials are let in, to what roles
// allow them. Where everything is allowed to everybody they are not.
func (s Serve) AllowsAnonymous() bool {
	return s.AnonymousAuth && !slices.Contains(s.AuthorizationModes, AlwaysAllow)
}
