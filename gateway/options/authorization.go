package options

import (
	"path/filepath"
	"slices"
	"time"
)

// Authorization is who else is asked whether requests are allowed.
type Authorization struct {
	// ConfigFile names an AuthorizationConfiguration, which counts instead of the modes;
	// "" is none.
	ConfigFile string
	// FlagsSet tells that modes or a webhook were given, and are no defaults.
	FlagsSet bool
	Webhook  AuthorizationWebhook
}

// AuthorizationWebhook is the server that the mode Webhook asks.
type AuthorizationWebhook struct {
	// ConfigFile is a kubeconfig.
	ConfigFile string
	// Version is that of the SubjectAccessReviews that it is sent.
	Version string
	// AuthorizedTTL and UnauthorizedTTL are how long its answers count.
	AuthorizedTTL, UnauthorizedTTL time.Duration
}

func defaultAuthorization() Authorization {
	return Authorization{Webhook: AuthorizationWebhook{Version: "v1beta1", AuthorizedTTL: 5 * time.Minute, UnauthorizedTTL: 30 * time.Second}}
}

// Structured reports whether more is asked than what is in this process.
func (s Serve) Structured() bool {
	return s.Authorization.ConfigFile != "" || slices.Contains(s.AuthorizationModes, Webhook)
}

// WebhookConfig is the absolute path of the webhook's kubeconfig.
func (a Authorization) WebhookConfig() (string, error) { return filepath.Abs(a.Webhook.ConfigFile) }

func (s Serve) validateAuthorization(bad func(flag, format string, args ...any)) {
	a, asked := s.Authorization, slices.Contains(s.AuthorizationModes, Webhook)
	if a.ConfigFile != "" && a.FlagsSet {
		bad("authorization-config", "can not be specified when --authorization-mode or --authorization-webhook-* flags are defined")
		return
	}
	if asked != (a.Webhook.ConfigFile != "") {
		bad("authorization-webhook-config-file", "goes with --authorization-mode=Webhook: set both or none")
	}
	if !slices.Contains(reviewVersions, a.Webhook.Version) {
		bad("authorization-webhook-version", "must be v1 or v1beta1, got %q", a.Webhook.Version)
	}
	if a.Webhook.AuthorizedTTL < 0 || a.Webhook.UnauthorizedTTL < 0 {
		bad("authorization-webhook-cache-authorized-ttl", "it and --authorization-webhook-cache-unauthorized-ttl must not be negative")
	}
}
