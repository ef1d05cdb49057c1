package structured

import (
	"context"
	"errors"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	"k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
)

// issuers believe the tokens of the issuers of one configuration.
type issuers struct {
	authenticator.Token
	checks []func() error
	// end stops what asks issuers for their keys.
	end context.CancelFunc
}

// authority is a bundle of certificates as PEM.
type authority string

// CurrentCABundleContent implements oidc.CAContentProvider.
func (a authority) CurrentCABundleContent() []byte { return []byte(a) }

// Algorithms are all that tokens can be signed by.
func Algorithms() []string { return oidc.AllValidSigningAlgorithms() }

// newIssuers begins to ask the issuers for their keys.
func newIssuers(ctx context.Context, compiler authenticationcel.Compiler, c *apiserver.AuthenticationConfiguration, o Config) (*issuers, error) {
	ctx, end := context.WithCancel(ctx)
	out := &issuers{end: end}
	var all []authenticator.Token
	for _, j := range c.JWT {
		options := oidc.Options{
			JWTAuthenticator: j, Compiler: compiler, SupportedSigningAlgs: o.SigningAlgs, DisallowedIssuers: o.Audiences, APIServerID: o.Gateway,
		}
		if pem := j.Issuer.CertificateAuthority; pem != "" {
			options.CAContentProvider = authority(pem)
		}
		one, err := oidc.New(ctx, options)
		if err != nil {
			end()
			return nil, err
		}
		all, out.checks = append(all, one), append(out.checks, one.HealthCheck)
	}
	out.Token = authenticator.WrapAudienceAgnosticToken(o.Audiences, union.NewFailOnError(all...))
	return out, nil
}

// healthy tells which issuers have not told their keys yet.
func (i *issuers) healthy() error {
	var errs []error
	for _, check := range i.checks {
		errs = append(errs, check())
	}
	return errors.Join(errs...)
}
