package cli

import "github.com/wasmgate/wasmgate/gateway/options"

func authenticationFlags(a *options.Authentication) flagGroup {
	f := newGroup("Tokens of other issuers")
	f.StringVar(&a.ConfigFile, "authentication-config", "", "`file` with an AuthenticationConfiguration: the issuers whose JWTs are accepted, and the paths that need no credentials. Changes are applied without a restart, except changes of the field anonymous")
	f.BoolVar(&a.BootstrapTokens, "enable-bootstrap-token-auth", false, "accept the bootstrap tokens in Secrets of the type bootstrap.kubernetes.io/token in kube-system")
	f.StringVar(&a.OIDC.IssuerURL, "oidc-issuer-url", "", "https `URL` of the one issuer whose JWTs are accepted; not together with --authentication-config")
	f.StringVar(&a.OIDC.ClientID, "oidc-client-id", "", "`audience` that tokens of the issuer must have")
	f.StringVar(&a.OIDC.CAFile, "oidc-ca-file", "", "PEM `file` with the authorities that verify the issuer (default those of the machine)")
	f.StringVar(&a.OIDC.UsernameClaim, "oidc-username-claim", a.OIDC.UsernameClaim, "`claim` with the user's name")
	f.StringVar(&a.OIDC.UsernamePrefix, "oidc-username-prefix", "", "prefix of user names; - means none (default the issuer URL and #, or none if the claim is email)")
	f.StringVar(&a.OIDC.GroupsClaim, "oidc-groups-claim", "", "`claim` with the user's groups")
	f.StringVar(&a.OIDC.GroupsPrefix, "oidc-groups-prefix", "", "prefix of group names")
	f.StringSliceVar(&a.OIDC.SigningAlgs, "oidc-signing-algs", a.OIDC.SigningAlgs, "accepted signing `algorithms` of tokens, comma-separated")
	f.StringToStringVar(&a.OIDC.RequiredClaims, "oidc-required-claim", nil, "`claim=value` that a token must have; may be set more than once")
	f.StringVar(&a.Webhook.ConfigFile, "authentication-token-webhook-config-file", "", "kubeconfig `file` of the server that is asked about tokens which the gateway does not know (the token webhook)")
	f.StringVar(&a.Webhook.Version, "authentication-token-webhook-version", a.Webhook.Version, "`version` of the TokenReviews that the token webhook gets: v1 or v1beta1")
	f.DurationVar(&a.Webhook.CacheTTL, "authentication-token-webhook-cache-ttl", a.Webhook.CacheTTL, "how long answers of the token webhook are cached")
	return f
}
