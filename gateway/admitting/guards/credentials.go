package guards

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"

	"github.com/wasmgate/wasmgate/gateway/bounds/files"
)

const (
	// maxKubeconfig and maxCredential are far more than a kubeconfig, and a token, a
	// certificate or a key, have.
	maxKubeconfig, maxCredential = 4 << 20, 256 << 10
	// tokenAge is how long a token counts that was read from a file.
	tokenAge = time.Second
)

// Credentials are by what webhooks know who calls them, by their hosts. They are safe for
// concurrent use; nil has none.
type Credentials struct {
	users map[string]*Credential
	usual *Credential // of the current context
}

// Credential is what one user of a kubeconfig is known by.
type Credential struct {
	said  *clientcmdapi.AuthInfo
	token tokenFile
}

// readCredentials reads a kubeconfig, all of whose users have to be usable.
func readCredentials(path string) (*Credentials, error) {
	at := field.NewPath("kubeConfigFile")
	if !strings.HasPrefix(path, "/") {
		return nil, field.Invalid(at, path, "must be an absolute file path")
	}
	text, err := files.Read(path, maxKubeconfig)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	config, err := clientcmd.Load(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s is no kubeconfig", at, path) // why would show what is in it
	}
	for _, user := range config.AuthInfos {
		user.LocationOfOrigin = path
	}
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	c := &Credentials{users: map[string]*Credential{}}
	for _, name := range slices.Sorted(maps.Keys(config.AuthInfos)) {
		user := &Credential{said: config.AuthInfos[name], token: tokenFile{path: config.AuthInfos[name].TokenFile}}
		if err := user.check(); err != nil {
			return nil, fmt.Errorf("%s: users: %s: %w", at, name, err)
		}
		c.users[name] = user
	}
	if current := config.Contexts[config.CurrentContext]; current != nil {
		c.usual = c.users[current.AuthInfo]
	}
	return c, nil
}

// For is what the server at a host and port is shown, nil for nothing: the user that has
// its name, without the port where that is 443, or the longest end of it after "*.", or
// "*", or else the one of the current context.
func (c *Credentials) For(hostPort string) *Credential {
	if c == nil {
		return nil
	}
	names := []string{hostPort}
	if host, port, err := net.SplitHostPort(hostPort); err == nil && port == "443" {
		names = append(names, host)
	}
	for _, name := range names {
		if user := c.users[name]; user != nil {
			return user
		}
		for _, end, more := strings.Cut(name, "."); more; _, end, more = strings.Cut(end, ".") {
			if user := c.users["*."+end]; user != nil {
				return user
			}
		}
	}
	if user := c.users["*"]; user != nil {
		return user
	}
	return c.usual
}

// check says why a user cannot be used.
func (c *Credential) check() error {
	u := c.said
	switch {
	case u.Exec != nil, u.AuthProvider != nil:
		return errors.New("no program or plugin is run to authenticate")
	case (u.Token != "" || u.TokenFile != "") && (u.Username != "" || u.Password != ""):
		return errors.New("username/password or bearer token may be set, but not both")
	case u.TokenFile != "" && u.Token == "":
		if _, err := c.token.read(time.Now()); err != nil {
			return err
		}
	}
	if c.HasCertificate() {
		_, err := c.Certificate()
		return err
	}
	return nil
}

// HasCertificate tells that servers are shown a client certificate.
func (c *Credential) HasCertificate() bool {
	return c.said.ClientCertificate != "" || len(c.said.ClientCertificateData) > 0
}

// Certificate is that certificate, as its files are now.
func (c *Credential) Certificate() (*tls.Certificate, error) {
	var pair [2][]byte
	for i, of := range []struct {
		data []byte
		path string
	}{{c.said.ClientCertificateData, c.said.ClientCertificate}, {c.said.ClientKeyData, c.said.ClientKey}} {
		pair[i] = of.data
		if len(of.data) == 0 {
			var err error
			if pair[i], err = files.Read(of.path, maxCredential); err != nil {
				return nil, err
			}
		}
	}
	out, err := tls.X509KeyPair(pair[0], pair[1])
	return &out, err
}

// Wrap has requests that are sent by way of a transport say who sends them.
func (c *Credential) Wrap(by http.RoundTripper) http.RoundTripper {
	u := c.said
	switch {
	case u.Token != "" || u.TokenFile != "":
		by = bearer{c, by}
	case u.Username != "" || u.Password != "":
		by = transport.NewBasicAuthRoundTripper(u.Username, u.Password, by)
	}
	if u.Impersonate != "" {
		by = transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{UserName: u.Impersonate, UID: u.ImpersonateUID, Groups: u.ImpersonateGroups, Extra: u.ImpersonateUserExtra}, by)
	}
	return by
}

// bearer sends the token as it is now.
type bearer struct {
	of *Credential
	by http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	token := b.of.said.Token
	if b.of.token.path != "" {
		read, err := b.of.token.read(time.Now())
		if err == nil {
			token = read
		} else if token == "" {
			return nil, err
		}
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.by.RoundTrip(r)
}

// tokenFile is a token that somebody else writes anew now and then.
type tokenFile struct {
	path string

	mu   sync.Mutex
	last string    // guarded by mu
	at   time.Time // of last; guarded by mu
}

// read returns the token; the last one while the file cannot be read.
func (f *tokenFile) read(now time.Time) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.at.IsZero() && now.Sub(f.at) < tokenAge {
		return f.last, nil
	}
	data, err := files.Read(f.path, maxCredential)
	token := strings.TrimSpace(string(data))
	if err == nil && token == "" {
		err = &os.PathError{Op: "read", Path: f.path, Err: errors.New("it has no token")}
	}
	if err != nil && f.last == "" {
		return "", err
	}
	if f.at = now; err == nil {
		f.last = token
	}
	return f.last, nil
}
