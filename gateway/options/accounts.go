package options

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// The bounds of ServiceAccountMaxTokenExpiration.
const (
	leastMaxExpiration = time.Hour
	mostMaxExpiration  = (1 << 32) * time.Second
)

// Audiences are whom tokens for this API are for, unless they say otherwise.
func Audiences(s Serve) []string {
	if len(s.APIAudiences) > 0 {
		return s.APIAudiences
	}
	return s.ServiceAccountIssuers
}

// validateAccounts checks what is said of the tokens of service accounts, and of the
// certificates of clients.
func (s Serve) validateAccounts(bad func(flag, format string, args ...any)) {
	s.ClusterSigning.validate(bad)
	if len(s.ServiceAccountIssuers) == 0 {
		bad("service-account-issuer", "must be set")
	}
	for i, issuer := range s.ServiceAccountIssuers {
		if issuer == "" {
			bad("service-account-issuer", "must not be empty")
		}
		if _, err := url.Parse(issuer); err != nil && strings.Contains(issuer, ":") {
			bad("service-account-issuer", "%q contains a colon and is no URL: %w", issuer, err)
		}
		if slices.Contains(s.ServiceAccountIssuers[:i], issuer) {
			bad("service-account-issuer", "%q is there twice", issuer)
		}
	}
	if slices.Contains(s.APIAudiences, "") {
		bad("api-audiences", "must not be empty")
	}
	if at := s.ServiceAccountJWKSURI; at != "" {
		if u, err := url.Parse(at); err != nil || u.Scheme != "https" || u.Host == "" {
			bad("service-account-jwks-uri", "%q is no https URL", at)
		}
	}
	if slices.Contains(s.ServiceAccountKeyFiles, "") {
		bad("service-account-key-file", "must name a file")
	}
	if d := s.ServiceAccountMaxTokenExpiration; d != 0 && (d < leastMaxExpiration || d > mostMaxExpiration) {
		bad("service-account-max-token-expiration", "must be between 1 hour and 2^32 seconds, got %s", d)
	}
}
