package server

import (
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"strconv"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/kubeconfig"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// identity is who the gateway is, and whom it believes.
type identity struct {
	serving       *pki.Serving
	admin         string // the administrator's token
	authenticator authn.Authenticator
	clientCA      bool
}

func newIdentity(o options.Serve) (*identity, error) {
	dir := filepath.Join(o.DataDir, "pki")
	id := &identity{}
	var err error
	if o.TLSCertFile != "" {
		id.serving, err = pki.FromFiles(o.TLSCertFile, o.TLSPrivateKeyFile)
	} else {
		id.serving, err = pki.SelfSigned(dir, pki.Hosts(o.BindAddress), nil)
	}
	if err != nil {
		return nil, err
	}
	if id.admin, err = pki.AdminToken(dir); err != nil {
		return nil, err
	}
	own := authn.NewTokens()
	if err := own.Add(id.admin, authn.User{Name: "wasmgate-admin", Groups: []string{authn.Masters}}); err != nil {
		return nil, err
	}
	union := authn.Union{own}
	if o.TokenAuthFile != "" {
		tokens, err := authn.LoadTokenFile(o.TokenAuthFile)
		if err != nil {
			return nil, fmt.Errorf("--token-auth-file: %w", err)
		}
		union = append(union, tokens)
	}
	if o.ClientCAFile != "" {
		certs, err := authn.LoadClientCAFile(o.ClientCAFile)
		if err != nil {
			return nil, fmt.Errorf("--client-ca-file: %w", err)
		}
		union = append(union, certs)
		id.clientCA = true
	}
	id.authenticator = union
	return id, nil
}

// known tells, of the value of an Authorization header, whether its sender's
// body is to be read. Who may have shown a certificate instead is not known
// at that point, and is trusted so far.
func (i *identity) known(authorization string) bool {
	if i.clientCA && authorization == "" {
		return true
	}
	_, ok, err := i.authenticator.Authenticate(authn.Request{BearerToken: api.BearerToken(authorization)})
	return ok && err == nil
}

// tls is the configuration of the listener. Client certificates are asked for
// only when some would be believed; they are verified by the authenticator.
func (i *identity) tls() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: i.serving.GetCertificate, NextProtos: []string{"http/1.1"}}
	if i.clientCA {
		c.ClientAuth = tls.RequestClientCert
	}
	return c
}

// writeKubeconfig writes the administrator's kubeconfig for a listener.
func (i *identity) writeKubeconfig(o options.Serve, addr net.Addr) (url string, err error) {
	host := o.BindAddress
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	port := strconv.Itoa(addr.(*net.TCPAddr).Port)
	url = "https://" + net.JoinHostPort(host, port)
	return url, kubeconfig.Write(o.KubeconfigPath(), kubeconfig.Admin{
		Server: url, Trust: i.serving.Trust(), ServerName: i.serving.ServerName(host), Token: i.admin,
	})
}
