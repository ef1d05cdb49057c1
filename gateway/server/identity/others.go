package identity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"k8s.io/apiserver/pkg/apis/apiserver"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authn/structured"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// Others believes tokens that others issue; nil if nobody does.
func (i *Identity) Others() []authn.Authenticator {
	if i.others == nil {
		return nil
	}
	return []authn.Authenticator{i.others}
}

// Anonymous tells at which paths who shows nothing is let in; nil is nowhere.
func (i *Identity) Anonymous() func(path string) bool { return i.anonymous }

// Run brings changes of the file of --authentication-config into force until ctx ends.
// late hears which issuers have not told their keys, and nil when all have.
func (i *Identity) Run(ctx context.Context, late func(error)) {
	if i.others != nil {
		i.others.Run(ctx, func(err error) { i.changed("--authentication-config", err) }, late)
	}
}

// Close ends what asks others.
func (i *Identity) Close() {
	if i.others != nil {
		i.others.Close()
	}
}

// believeOthers makes what the options say of tokens that others issue, and of who shows
// nothing. gateway is what this one is called among those that share a store.
func (i *Identity) believeOthers(ctx context.Context, o options.Serve, gateway string) (err error) {
	if o.AllowsAnonymous() {
		i.anonymous = func(string) bool { return true }
	}
	if !o.Authentication.Asks() {
		return nil
	}
	c, err := others(o, gateway)
	if err != nil {
		return err
	}
	if i.others, err = structured.New(ctx, c); err != nil {
		return err
	}
	said := i.others.Anonymous()
	if said == nil {
		return nil
	}
	if o.Authentication.AnonymousAuthSet {
		return errAnonymous
	}
	i.anonymous = nil
	if said.Enabled && o.AllowsAnonymous() {
		i.anonymous = open(said.Conditions)
	}
	return nil
}

var errAnonymous = errors.New("--anonymous-auth: it cannot be set when the file of --authentication-config configures anonymous")

// others is what the options say of tokens that others issue.
func others(o options.Serve, gateway string) (c structured.Config, err error) {
	a := o.Authentication
	c = structured.Config{
		Path: a.ConfigFile, SigningAlgs: a.OIDC.SigningAlgs, Audiences: options.Audiences(o), Issuers: o.ServiceAccountIssuers, Gateway: gateway,
		Webhook: structured.Webhook{Path: a.Webhook.ConfigFile, Version: a.Webhook.Version, CacheTTL: a.Webhook.CacheTTL},
	}
	if a.ConfigFile != "" { // which any may sign that the library knows
		c.SigningAlgs = structured.Algorithms()
	}
	if a.OIDC.IssuerURL != "" {
		if c.Flags, err = configuration(a.OIDC); err != nil {
			return c, fmt.Errorf("--oidc-ca-file: %w", err)
		}
	}
	return c, nil
}

// clientCertificates believe certificates of clients: those of the operator's authorities,
// and of the one that signs what CertificateSigningRequests ask for where there are any.
func (i *Identity) clientCertificates(o options.Serve, dir string) (all authn.Union, err error) {
	follow := func(flag, path string) error {
		certs, err := authn.FollowClientCAFile(path, reread(flag, i.changed))
		if err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
		all, i.clients = append(all, certs), append(i.clients, path)
		return nil
	}
	if o.ClientCAFile != "" {
		if err := follow("--client-ca-file", o.ClientCAFile); err != nil {
			return nil, err
		}
	}
	signing := o.ClusterSigning.CertFile
	if signing == "" && o.API == options.WholeAPI {
		if signing, _, err = pki.ClientAuthority(dir); err != nil {
			return nil, err
		}
	}
	if signing == "" || signing == o.ClientCAFile {
		return all, nil
	}
	return all, follow("--cluster-signing-cert-file", signing)
}

// open tells which paths are open to who shows nothing: those of the conditions, and all
// if there are none.
func open(conditions []apiserver.AnonymousAuthCondition) func(string) bool {
	return func(path string) bool {
		return len(conditions) == 0 || slices.Contains(conditions, apiserver.AnonymousAuthCondition{Path: path})
	}
}

// configuration is what --oidc-* flags say, as a file would.
func configuration(o options.OIDC) (*apiserver.AuthenticationConfiguration, error) {
	prefix := o.UsernamePrefix
	if prefix == "" && o.UsernameClaim != "email" {
		prefix = o.IssuerURL + "#"
	}
	if prefix == "-" {
		prefix = ""
	}
	j := apiserver.JWTAuthenticator{
		Issuer:        apiserver.Issuer{URL: o.IssuerURL, Audiences: []string{o.ClientID}},
		ClaimMappings: apiserver.ClaimMappings{Username: apiserver.PrefixedClaimOrExpression{Prefix: &prefix, Claim: o.UsernameClaim}},
	}
	if o.GroupsClaim != "" {
		j.ClaimMappings.Groups = apiserver.PrefixedClaimOrExpression{Prefix: &o.GroupsPrefix, Claim: o.GroupsClaim}
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, err
		}
		j.Issuer.CertificateAuthority = string(pem)
	}
	for claim, value := range o.RequiredClaims {
		j.ClaimValidationRules = append(j.ClaimValidationRules, apiserver.ClaimValidationRule{Claim: claim, RequiredValue: value})
	}
	return &apiserver.AuthenticationConfiguration{JWT: []apiserver.JWTAuthenticator{j}}, nil
}
