// Package identity owns who the gateway is and whom it believes: its
// certificate, the administrator's token and kubeconfig, and the ways to
// authenticate that the options ask for.
//
// It must not know what anybody is allowed to do.
package identity

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"strconv"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authn/structured"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
	"github.com/wasmgate/wasmgate/gateway/pki/kubeconfig"
)

// Identity is who the gateway is, and whom it believes.
type Identity struct {
	serving       *pki.Serving
	named         []pki.Named
	secured       options.TLS
	admin         string // the administrator's token
	authenticator authn.Union
	clientCA      bool
	// clients are the files of the authorities whose client certificates are believed.
	clients []string
	changed Changed
	// others believes tokens of others; nil if nobody does.
	others    *structured.Authenticator
	anonymous func(path string) bool
	// proxy is what servers behind this one know it by.
	proxy *pki.Serving
}

// Changed is told when the file of a flag was read again, or, with an error, that
// it cannot be and what it said before still counts. It must not block.
type Changed func(flag string, err error)

func reread(flag string, changed Changed) func(error) {
	return func(err error) { changed(flag, err) }
}

// New makes what the options ask for. It creates certificates and a token in
// the data directory when there are none. gateway is what this one is called among
// those that share a store. What it asks others goes on until ctx ends, or Close.
func New(ctx context.Context, o options.Serve, gateway string, changed Changed) (*Identity, error) {
	dir := filepath.Join(o.DataDir, "pki")
	id := &Identity{changed: changed, secured: o.TLS}
	var err error
	if o.TLSCertFile != "" {
		id.serving, err = pki.FromFiles(o.TLSCertFile, o.TLSPrivateKeyFile)
	} else {
		id.serving, err = pki.SelfSigned(dir, pki.Hosts(o.BindAddress), nil)
	}
	if err != nil {
		return nil, err
	}
	if id.named, err = named(o.TLS); err != nil {
		return nil, fmt.Errorf("--tls-sni-cert-key: %w", err)
	}
	if id.admin, err = pki.AdminToken(dir); err != nil {
		return nil, err
	}
	own := authn.NewTokens()
	if err := own.Add(id.admin, authn.User{Name: "wasmgate-admin", Groups: []string{authn.Masters}}); err != nil {
		return nil, err
	}
	union := authn.Union{own}
	if id.proxy, err = proxyCertificate(o, dir); err != nil {
		return nil, err
	}
	if p := o.Proxy; p.HeaderCAFile != "" {
		by, err := authn.FollowRequestHeaderCAFile(p.HeaderCAFile, reread("--requestheader-client-ca-file", changed))
		if err != nil {
			return nil, fmt.Errorf("--requestheader-client-ca-file: %w", err)
		}
		union = append(authn.Union{&authn.RequestHeader{
			By: by, AllowedNames: p.AllowedNames, Username: p.UsernameHeaders, UID: p.UIDHeaders, Group: p.GroupHeaders, ExtraPrefix: p.ExtraHeaderPrefixes,
		}}, union...)
		id.clientCA = true
	}
	if o.TokenAuthFile != "" {
		tokens, err := authn.FollowTokenFile(o.TokenAuthFile, reread("--token-auth-file", changed))
		if err != nil {
			return nil, fmt.Errorf("--token-auth-file: %w", err)
		}
		union = append(union, tokens)
	}
	certs, err := id.clientCertificates(o, dir)
	if err != nil {
		return nil, err
	}
	id.clientCA = id.clientCA || len(certs) > 0
	id.authenticator = append(union, certs...)
	if err := id.believeOthers(ctx, o, gateway); err != nil {
		id.Close()
		return nil, err
	}
	return id, nil
}

// named are the certificates for clients that ask for a name.
func named(t options.TLS) (all []pki.Named, _ error) {
	pairs, err := t.ServerNames()
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		serving, err := pki.FromFiles(p.CertFile, p.KeyFile)
		if err != nil {
			return nil, err
		}
		all = append(all, pki.Named{Serving: serving, Patterns: p.Patterns})
	}
	return all, nil
}

// Authenticator tells who sends a request.
func (i *Identity) Authenticator() authn.Authenticator { return i.authenticator }

// ClientAuthorities are the files of the authorities whose client certificates are
// believed.
func (i *Identity) ClientAuthorities() []string { return i.clients }

// proxyCertificate is the operator's, or one that the gateway makes.
func proxyCertificate(o options.Serve, dir string) (*pki.Serving, error) {
	if o.Proxy.ClientCertFile != "" {
		s, err := pki.FromFiles(o.Proxy.ClientCertFile, o.Proxy.ClientKeyFile)
		if err != nil {
			return nil, fmt.Errorf("--proxy-client-cert-file: %w", err)
		}
		return s, nil
	}
	return pki.FrontProxy(dir, nil)
}

// Proxy is what the gateway proves to servers behind it who it is by.
func (i *Identity) Proxy() *pki.Serving { return i.proxy }

// TLS is the configuration of the listener. Client certificates are asked for
// only when some would be believed; they are verified by the authenticator.
func (i *Identity) TLS() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pki.Names{All: i.named, Otherwise: i.serving}.GetCertificate, NextProtos: []string{"http/1.1"}}
	i.secured.Apply(c)
	if i.clientCA {
		c.ClientAuth = tls.RequestClientCert
	}
	return c
}

// Trust is what clients verify the gateway by: certificates as PEM.
func (i *Identity) Trust() []byte { return i.serving.Trust() }

// URL is where clients on this machine reach a listener at addr.
func URL(o options.Serve, addr net.Addr) string {
	return "https://" + net.JoinHostPort(host(o), strconv.Itoa(addr.(*net.TCPAddr).Port))
}

// host is the address that is bound, or loopback when all are.
func host(o options.Serve) string {
	if ip := net.ParseIP(o.BindAddress); ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return o.BindAddress
}

// WriteKubeconfig writes the administrator's kubeconfig for a gateway at url.
func (i *Identity) WriteKubeconfig(o options.Serve, url string) error {
	return kubeconfig.Write(o.KubeconfigPath(), kubeconfig.Admin{
		Server: url, Trust: i.serving.Trust(), ServerName: i.serving.ServerName(host(o)), Token: i.admin,
	})
}
