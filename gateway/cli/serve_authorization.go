package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/wasmgate/wasmgate/gateway/options"
)

func authorizationFlags(o *options.Serve) flagGroup {
	f, a := newGroup("Who may"), &o.Authorization
	f.StringSliceVar(&o.AuthorizationModes, "authorization-mode", o.AuthorizationModes, "`modes` by which requests are allowed, in order: RBAC, Webhook, AlwaysAllow, AlwaysDeny; members of system:masters may do everything")
	f.StringVar(&a.ConfigFile, "authorization-config", "", "`file` with an AuthorizationConfiguration: who is asked, in order, instead of modes. Changes come into force")
	f.StringVar(&a.Webhook.ConfigFile, "authorization-webhook-config-file", "", "kubeconfig `file` that says which server the mode Webhook asks")
	f.StringVar(&a.Webhook.Version, "authorization-webhook-version", a.Webhook.Version, "`version` of the SubjectAccessReviews that it is sent: v1 or v1beta1")
	f.DurationVar(&a.Webhook.AuthorizedTTL, "authorization-webhook-cache-authorized-ttl", a.Webhook.AuthorizedTTL, "how long it counts when it allows")
	f.DurationVar(&a.Webhook.UnauthorizedTTL, "authorization-webhook-cache-unauthorized-ttl", a.Webhook.UnauthorizedTTL, "how long it counts when it does not")
	return f
}

// authorizationSet reports whether a mode or a webhook was given.
func authorizationSet(flags *pflag.FlagSet) (set bool) {
	flags.Visit(func(f *pflag.Flag) {
		set = set || f.Name == "authorization-mode" || strings.HasPrefix(f.Name, "authorization-webhook-")
	})
	return set
}
