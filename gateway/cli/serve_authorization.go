package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/wasmgate/wasmgate/gateway/options"
)

func authorizationFlags(o *options.Serve) flagGroup {
	f, a := newGroup("Authorization"), &o.Authorization
	f.StringSliceVar(&o.AuthorizationModes, "authorization-mode", o.AuthorizationModes, "authorization `modes`, which are asked in this order: RBAC, Webhook, AlwaysAllow, AlwaysDeny; members of system:masters may do everything")
	f.StringVar(&a.ConfigFile, "authorization-config", "", "`file` with an AuthorizationConfiguration: the authorizers and their order, instead of --authorization-mode. Changes are applied without a restart")
	f.StringVar(&a.Webhook.ConfigFile, "authorization-webhook-config-file", "", "kubeconfig `file` of the server that the mode Webhook asks (the authorization webhook)")
	f.StringVar(&a.Webhook.Version, "authorization-webhook-version", a.Webhook.Version, "`version` of the SubjectAccessReviews that the authorization webhook gets: v1 or v1beta1")
	f.DurationVar(&a.Webhook.AuthorizedTTL, "authorization-webhook-cache-authorized-ttl", a.Webhook.AuthorizedTTL, "how long an answer of the authorization webhook that allows is cached")
	f.DurationVar(&a.Webhook.UnauthorizedTTL, "authorization-webhook-cache-unauthorized-ttl", a.Webhook.UnauthorizedTTL, "how long an answer of the authorization webhook that does not allow is cached")
	return f
}

// authorizationSet reports whether a mode or a webhook was given.
func authorizationSet(flags *pflag.FlagSet) (set bool) {
	flags.Visit(func(f *pflag.Flag) {
		set = set || f.Name == "authorization-mode" || strings.HasPrefix(f.Name, "authorization-webhook-")
	})
	return set
}
