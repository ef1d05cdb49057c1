package options

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// mostGoaway is as often as connections may be closed: one request in fifty.
const mostGoaway = 0.02

// Clients is what is done for browsers, and for who is behind a load balancer.
type Clients struct {
	// AllowedOrigins are regular expressions of origins whose pages may send requests
	// from browsers; none for no page of another server.
	AllowedOrigins []string
	// GoawayChance is how likely a connection is closed with a reply, at most 0.02.
	GoawayChance float64
}

func (c Clients) validate(bad func(flag, format string, args ...any)) {
	for _, origin := range c.AllowedOrigins {
		if err := checkOrigin(origin); err != nil {
			bad("cors-allowed-origins", "%q: %w", origin, err)
		}
	}
	if !(c.GoawayChance >= 0 && c.GoawayChance <= mostGoaway) { // nor is it no number
		bad("goaway-chance", "must be from 0 to %v, got %v", mostGoaway, c.GoawayChance)
	}
}

// Origins are the expressions of --cors-allowed-origins. c is valid.
func (c Clients) Origins() (all []*regexp.Regexp) {
	for _, text := range c.AllowedOrigins {
		all = append(all, regexp.MustCompile(text))
	}
	return all
}

// checkOrigin refuses an expression that is none, and one that matches any host which
// begins or ends like the one that is meant, as far as kube-apiserver sees that
// (CVE-2022-1996).
func checkOrigin(text string) error {
	if text == "" {
		return errors.New("must not be empty")
	}
	if _, err := regexp.Compile(text); err != nil {
		return fmt.Errorf("invalid regular expression: %w", err)
	}
	if !strings.Contains(text, "^") && !strings.Contains(text, "//") || !strings.Contains(text, "$") && !strings.Contains(text, ":") {
		return errors.New("it has to have ^ or // where a host begins, and $ or : where it ends")
	}
	return nil
}
