package options

import (
	"reflect"
	"slices"
	"time"
)

// Authentication is who else is believed.
type Authentication struct {
	// ConfigFile names an AuthenticationConfiguration; "" is none.
	ConfigFile string
	// AnonymousAuthSet tells that AnonymousAuth was given, and is no default.
	AnonymousAuthSet bool
	// BootstrapTokens believes tokens in Secrets of the type bootstrap.kubernetes.io/token.
	BootstrapTokens bool
	OIDC            OIDC
	Webhook         TokenWebhook
}

// OIDC is an issuer of tokens, as --oidc-* flags say it.
type OIDC struct {
	IssuerURL, ClientID, CAFile                              string
	UsernameClaim, UsernamePrefix, GroupsClaim, GroupsPrefix string
	SigningAlgs                                              []string
	RequiredClaims                                           map[string]string
}

// TokenWebhook is a server that knows tokens.
type TokenWebhook struct {
	// ConfigFile is a kubeconfig; "" is no webhook.
	ConfigFile string
	// Version is that of the TokenReviews that it is sent.
	Version  string
	CacheTTL time.Duration
}

func defaultAuthentication() Authentication {
	return Authentication{
		OIDC:    OIDC{UsernameClaim: "sub", SigningAlgs: []string{"RS256"}},
		Webhook: TokenWebhook{Version: "v1beta1", CacheTTL: 2 * time.Minute},
	}
}

// Asks reports whether tokens are believed that others issue.
func (a Authentication) Asks() bool {
	return a.ConfigFile != "" || a.OIDC.IssuerURL != "" || a.Webhook.ConfigFile != ""
}

// reviewVersions are those of the reviews that webhooks may be sent.
var reviewVersions = []string{"v1", "v1beta1"}

func (a Authentication) validate(bad func(flag, format string, args ...any)) {
	oidc := !reflect.DeepEqual(a.OIDC, defaultAuthentication().OIDC)
	switch {
	case oidc && a.ConfigFile != "":
		bad("authentication-config", "it and --oidc-* flags are mutually exclusive")
	case oidc && (a.OIDC.IssuerURL == "" || a.OIDC.ClientID == ""):
		bad("oidc-issuer-url", "it and --oidc-client-id must be specified together when any --oidc-* flags are set")
	}
	if !slices.Contains(reviewVersions, a.Webhook.Version) {
		bad("authentication-token-webhook-version", "must be v1 or v1beta1, got %q", a.Webhook.Version)
	}
	if a.Webhook.CacheTTL < 0 {
		bad("authentication-token-webhook-cache-ttl", "must not be negative, got %s", a.Webhook.CacheTTL)
	}
}
