package cli

import "github.com/wasmgate/wasmgate/gateway/options"

func authenticationFlags(a *options.Authentication) flagGroup {
	f := newGroup("Tokens of others")
	f.StringVar(&a.ConfigFile, "authentication-config", "", "`file` with an AuthenticationConfiguration: whose JWTs are believed, and at which paths who shows nothing is let in. Changes come into force")
	f.BoolVar(&a.BootstrapTokens, "enable-bootstrap-token-auth", false, "believe tokens in Secrets of the type bootstrap.kubernetes.io/token in kube-system")
	f.StringVar(&a.OIDC.IssuerURL, "oidc-issuer-url", "", "https `URL` of an issuer of tokens, instead of such a file")
	f.StringVar(&a.OIDC.ClientID, "oidc-client-id", "", "`whom` its tokens have to be for")
	f.StringVar(&a.OIDC.CAFile, "oidc-ca-file", "", "PEM `file` with the authorities that verify the issuer (default those of the machine)")
	f.StringVar(&a.OIDC.UsernameClaim, "oidc-username-claim", a.OIDC.UsernameClaim, "`claim` that is the user's name")
	f.StringVar(&a.OIDC.UsernamePrefix, "oidc-username-prefix", "", "what names of users begin with, - for nothing (default the issuer and #, and nothing for the claim email)")
	f.StringVar(&a.OIDC.GroupsClaim, "oidc-groups-claim", "", "`claim` that has the user's groups")
	f.StringVar(&a.OIDC.GroupsPrefix, "oidc-groups-prefix", "", "what names of groups begin with")
	f.StringSliceVar(&a.OIDC.SigningAlgs, "oidc-signing-algs", a.OIDC.SigningAlgs, "`algorithms` that tokens may be signed by, comma-separated")
	f.StringToStringVar(&a.OIDC.RequiredClaims, "oidc-required-claim", nil, "`claim=value` that a token has to have; may be set more than once")
	f.StringVar(&a.Webhook.ConfigFile, "authentication-token-webhook-config-file", "", "kubeconfig `file` that says which server is asked who sends a token")
	f.StringVar(&a.Webhook.Version, "authentication-token-webhook-version", a.Webhook.Version, "`version` of the TokenReviews that it is sent: v1 or v1beta1")
	f.DurationVar(&a.Webhook.CacheTTL, "authentication-token-webhook-cache-ttl", a.Webhook.CacheTTL, "how long its answers count")
	return f
}
