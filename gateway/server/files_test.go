package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/options"
)

// A file of a flag that says nothing of what it should is refused by the name of the flag,
// before there is a data directory.
func TestRun_FilesAreLookedAtFirst(t *testing.T) {
	odd := write(t, filepath.Join(t.TempDir(), "odd"), "{odd: [\n")
	for flag, set := range map[string]func(o *options.Serve){
		"tls-cert-file":                    func(o *options.Serve) { o.TLSCertFile, o.TLSPrivateKeyFile = odd, odd },
		"proxy-client-cert-file":           func(o *options.Serve) { o.Proxy.ClientCertFile, o.Proxy.ClientKeyFile = odd, odd },
		"requestheader-client-ca-file":     func(o *options.Serve) { o.Proxy.HeaderCAFile = odd },
		"token-auth-file":                  func(o *options.Serve) { o.TokenAuthFile = odd },
		"client-ca-file":                   func(o *options.Serve) { o.ClientCAFile = odd },
		"cluster-signing-cert-file":        func(o *options.Serve) { o.ClusterSigning.CertFile, o.ClusterSigning.KeyFile = odd, odd },
		"service-account-signing-key-file": func(o *options.Serve) { o.ServiceAccountSigningKeyFile = odd },
		"service-account-key-file":         func(o *options.Serve) { o.ServiceAccountKeyFiles = []string{odd} },
		"module-trust-file":                func(o *options.Serve) { o.ModuleTrustFile = odd },
		"module-registries-file":           func(o *options.Serve) { o.ModuleRegistriesFile = odd },
		"authentication-config":            func(o *options.Serve) { o.Authentication.ConfigFile = odd },
		"authentication-token-webhook-config-file": func(o *options.Serve) {
			o.Authentication.Webhook.ConfigFile = odd
		},
		"oidc-issuer-url": func(o *options.Serve) {
			o.Authentication.OIDC.IssuerURL, o.Authentication.OIDC.ClientID, o.Authentication.OIDC.CAFile = "https://issuer.example", "a", odd
		},
		"authorization-config": func(o *options.Serve) { o.Authorization.ConfigFile, o.Authorization.FlagsSet = odd, false },
		"authorization-webhook-config-file": func(o *options.Serve) {
			o.AuthorizationModes, o.Authorization.Webhook.ConfigFile = []string{options.Webhook}, odd
		},
		"admission-control-config-file": func(o *options.Serve) { o.AdmissionControlConfigFile = odd },
		"encryption-provider-config":    func(o *options.Serve) { o.EncryptionProviderConfig = odd },
		"etcd-cafile":                   func(o *options.Serve) { o.EtcdServers, o.EtcdCAFile = []string{"http://127.0.0.1:1"}, odd },
		"audit-policy-file":             func(o *options.Serve) { o.Audit.LogPath, o.Audit.PolicyFile = "-", odd },
		"audit-webhook-config-file":     func(o *options.Serve) { o.Audit.WebhookConfigFile = odd },
	} {
		o := servingIn(filepath.Join(t.TempDir(), "data"))
		set(&o)
		refusedBeforeAnything(t, o, "--"+flag)
	}
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	o.Authentication.OIDC.IssuerURL, o.Authentication.OIDC.ClientID = "http://issuer.example", "a"
	refusedBeforeAnything(t, o, "must be https")
}

func refusedBeforeAnything(t *testing.T, o options.Serve, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := Run(ctx, o, zerolog.Nop(), func(options.Started) { t.Error("started") })
	if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(options.Mistake)) {
		t.Errorf("%s: %v", want, err)
	}
	if _, err := os.Stat(o.DataDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: there is a data directory: %v", want, err)
	}
}
