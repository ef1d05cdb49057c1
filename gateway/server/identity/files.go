package identity

import (
	"slices"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authn/structured"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// Files are those that say who the gateway is and whom it believes.
func Files(o options.Serve) []options.File {
	follows := func(flag, path string, follow func(string, func(error)) (*authn.Following, error)) options.File {
		return options.File{Flag: flag, Paths: []string{path}, Look: func() error {
			_, err := follow(path, nil)
			return err
		}}
	}
	serves := func(flag, cert, key string) options.File {
		return options.File{Flag: flag, Paths: []string{cert, key}, Look: func() error {
			_, err := pki.FromFiles(cert, key)
			return err
		}}
	}
	a := o.Authentication
	all := []options.File{
		serves("tls-cert-file", o.TLSCertFile, o.TLSPrivateKeyFile),
		serves("proxy-client-cert-file", o.Proxy.ClientCertFile, o.Proxy.ClientKeyFile),
		follows("requestheader-client-ca-file", o.Proxy.HeaderCAFile, authn.FollowRequestHeaderCAFile),
		follows("token-auth-file", o.TokenAuthFile, authn.FollowTokenFile),
		follows("client-ca-file", o.ClientCAFile, authn.FollowClientCAFile),
	}
	if pairs, err := o.TLS.ServerNames(); err == nil { // as validation found
		for _, p := range pairs {
			all = append(all, serves("tls-sni-cert-key", p.CertFile, p.KeyFile))
		}
	}
	if !a.Asks() {
		return all
	}
	flag := "authentication-config"
	if a.ConfigFile == "" {
		flag = "oidc-issuer-url"
	}
	named := slices.DeleteFunc([]string{a.ConfigFile, a.Webhook.ConfigFile, a.OIDC.CAFile}, func(path string) bool { return path == "" })
	return append(all, options.File{Flag: flag, Paths: named, Look: func() error {
		c, err := others(o, "")
		if err != nil {
			return err
		}
		anonymous, err := structured.Look(c)
		if err == nil && anonymous != nil && a.AnonymousAuthSet {
			err = errAnonymous
		}
		return err
	}})
}
