package structured

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	"k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"

	"github.com/wasmgate/wasmgate/webhook"
)

// issuers believe the tokens of the issuers of one configuration.
type issuers struct {
	authenticator.Token
	checks []func() error
	// end stops what asks issuers for their keys.
	end context.CancelFunc
}

// Algorithms are all that tokens can be signed by.
func Algorithms() []string { return oidc.AllValidSigningAlgorithms() }

// newIssuers begins to ask the issuers for their keys.
func newIssuers(ctx context.Context, compiler authenticationcel.Compiler, c *apiserver.AuthenticationConfiguration, o Config) (*issuers, error) {
	ctx, end := context.WithCancel(ctx)
	out := &issuers{end: end}
	var all []authenticator.Token
	for _, j := range c.JWT {
		options := oidc.Options{
			JWTAuthenticator: j, Compiler: compiler, SupportedSigningAlgs: o.SigningAlgs, DisallowedIssuers: o.Issuers, APIServerID: o.Gateway,
		}
		var err error
		if options.Client, err = asking(j.Issuer); err != nil {
			end()
			return nil, err
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

const (
	// askTimeout is how long an issuer may take, as in kube-apiserver; maxHead is the most
	// that the head of its answer may have.
	askTimeout = 30 * time.Second
	maxHead    = 64 << 10
)

// asking is a client like the one that the library would make, but for answers that have
// no end and for keys that are asked for all the time; nil where the library has to say what
// is wrong.
func asking(i apiserver.Issuer) (*http.Client, error) {
	if i.EgressSelectorType != "" {
		return nil, nil
	}
	var roots *x509.CertPool // nil are the system's
	if pem := i.CertificateAuthority; pem != "" {
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM([]byte(pem)) {
			return nil, errors.New("the certificate authority of an issuer has no certificate that can be read")
		}
	}
	by := utilnet.SetTransportDefaults(&http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxResponseHeaderBytes: maxHead})
	return &http.Client{Transport: seldom(i, webhook.Bounded(by, webhook.MaxAnswerBytes)), Timeout: askTimeout}, nil
}

// healthy tells which issuers have not told their keys yet.
func (i *issuers) healthy() error {
	var errs []error
	for _, check := range i.checks {
		errs = append(errs, check())
	}
	return errors.Join(errs...)
}
