// Package kubeconfig owns the administrator's kubeconfig, which it writes, and
// the search for the one that a command should use.
//
// It knows the file format through client-go only, and must not know how
// certificates or tokens are made (gateway/pki), or what a command does with
// its connection.
package kubeconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/wasmgate/wasmgate/gateway/pki"
	"github.com/wasmgate/wasmgate/gateway/pki/private"
)

// FileName is the name under which the administrator's kubeconfig is written
// into the data directory.
const FileName = "admin.kubeconfig"

// DefaultDataDir is where `wasmgate serve` keeps its data, and so where [Load]
// looks last.
const DefaultDataDir = "wasmgate-data"

// Admin is what the administrator's kubeconfig says.
type Admin struct {
	// Server is the URL of the gateway.
	Server string
	// Trust is the PEM bundle that verifies the server.
	Trust []byte
	// ServerName, if not empty, is the name to verify the server under.
	ServerName string
	// Token is the bearer token.
	Token string
}

// Write writes the kubeconfig for a with mode 0600, in one step. A file that
// says the same already is left alone.
func Write(path string, a Admin) error {
	const name = "wasmgate"
	const user = "wasmgate-admin"
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   a.Server,
		TLSServerName:            a.ServerName,
		CertificateAuthorityData: a.Trust,
	}
	cfg.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: a.Token}
	cfg.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	cfg.CurrentContext = name
	data, err := clientcmd.Write(*cfg)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	if unchanged(path, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	if err := pki.WriteFile(path, data); err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return nil
}

func unchanged(path string, data []byte) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		return false
	}
	old, err := os.ReadFile(path)
	return err == nil && bytes.Equal(old, data)
}

// ErrNone tells that no kubeconfig was found anywhere.
var ErrNone = errors.New("no kubeconfig found: pass --kubeconfig, set KUBECONFIG, or run where `wasmgate serve` keeps its " + DefaultDataDir)

// local is the kubeconfig of a gateway that was started in this folder.
var local = filepath.Join(DefaultDataDir, FileName)

// loadLocal reads the kubeconfig in the present folder, which nobody named: a
// folder that came from elsewhere must not decide what is run or whom a token
// is shown. So it has to be a file as [Write] makes it, by the same user.
func loadLocal() (*clientcmdapi.Config, error) {
	err := private.Folder(DefaultDataDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", local, err)
	}
	f, err := private.Open(local)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", local, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLocal))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", local, err)
	}
	cfg, err := clientcmd.Load(data)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", local, err)
	}
	for name, user := range cfg.AuthInfos {
		if user.Exec != nil || user.AuthProvider != nil {
			return nil, fmt.Errorf("kubeconfig %s: user %q runs a program or a plugin to authenticate; pass --kubeconfig to allow that", local, name)
		}
	}
	return cfg, nil
}

// maxLocal is far more than [Write] writes.
const maxLocal = 1 << 20

// Load returns the client configuration for a command: from the file explicit
// if that is not empty, else by the usual rules (KUBECONFIG, then
// ~/.kube/config), else from the data directory of a gateway that was started
// here. What KUBECONFIG names is not replaced by anything else: of several files
// some may be missing, as for kubectl, but not all. It also returns where the
// configuration came from, for messages. overrides is what takes precedence over
// the file, such as its context or its server; nil is nothing. A server that is
// named there needs no file, and is not sent the token in the data directory, which
// is for the gateway that was started here.
func Load(explicit string, overrides *clientcmd.ConfigOverrides) (*rest.Config, string, error) {
	elsewhere := overrides != nil && overrides.ClusterInfo.Server != ""
	raw, from, err := load(explicit, !elsewhere)
	if errors.Is(err, ErrNone) && elsewhere {
		raw, err = clientcmdapi.NewConfig(), nil
	}
	if err != nil {
		return nil, "", err
	}
	cfg, err := clientcmd.NewDefaultClientConfig(*raw, overrides).ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	return cfg, from, nil
}

// Contexts returns the names of the contexts that a command may choose, of the file
// that [Load] would take.
func Contexts(explicit string) ([]string, error) {
	raw, _, err := load(explicit, true)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), nil
}

// load finds the file and reads it; here tells whether the one in the data directory
// may be taken.
func load(explicit string, here bool) (raw *clientcmdapi.Config, from string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = explicit
	rules.WarnIfAllMissing = false
	raw, err = rules.Load()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	if clientcmdapi.IsConfigEmpty(raw) {
		if explicit != "" {
			return nil, "", fmt.Errorf("kubeconfig %s is empty", explicit)
		}
		if env := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); env != "" {
			return nil, "", fmt.Errorf("KUBECONFIG is %q, where there is no kubeconfig, or an empty one", env)
		}
		if !here {
			return nil, "", ErrNone
		}
		if raw, err = loadLocal(); err != nil {
			return nil, "", err
		}
		return raw, local, nil
	}
	if explicit == "" {
		explicit = rules.GetDefaultFilename()
	}
	return raw, explicit, nil
}
