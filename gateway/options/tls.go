package options

import (
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// TLS is how connections are secured that clients make, by kube-apiserver's flags.
type TLS struct {
	// MinVersion is the least version that is spoken, as [TLSVersions] have it.
	MinVersion string
	// CipherSuites are the names of those that are used of TLS 1.2, by RFC 8446's and
	// IANA's names; Go's own choice if empty. Those of TLS 1.3 cannot be chosen.
	CipherSuites []string
	// StrictTransport are the directives of the header Strict-Transport-Security
	// (RFC 6797) that every reply gets; none for no such header.
	StrictTransport []string
}

// versions are what is spoken. Older ones than these are not, whoever asks for them.
var versions = map[string]uint16{"VersionTLS12": tls.VersionTLS12, "VersionTLS13": tls.VersionTLS13}

// TLSVersions are the values of --tls-min-version.
func TLSVersions() []string { return slices.Sorted(maps.Keys(versions)) }

// CipherSuites are the values of --tls-cipher-suites that are safe.
func CipherSuites() []string {
	var out []string
	for _, s := range tls.CipherSuites() {
		if slices.Contains(s.SupportedVersions, tls.VersionTLS12) {
			out = append(out, s.Name)
		}
	}
	return out
}

// Apply sets what is asked for in c, which has the defaults. t is valid.
func (t TLS) Apply(c *tls.Config) {
	if version, ok := versions[t.MinVersion]; ok {
		c.MinVersion = version
	}
	for _, s := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if slices.Contains(t.CipherSuites, s.Name) {
			c.CipherSuites = append(c.CipherSuites, s.ID)
		}
	}
}

// StrictTransportSecurity is the value of the header, "" for none.
func (t TLS) StrictTransportSecurity() string { return strings.Join(t.StrictTransport, "; ") }

func (t TLS) validate(bad func(flag, format string, args ...any)) {
	if t.MinVersion != "" && versions[t.MinVersion] == 0 {
		bad("tls-min-version", "must be one of %s, got %q", strings.Join(TLSVersions(), ", "), t.MinVersion)
	}
	for _, name := range t.CipherSuites {
		if !slices.ContainsFunc(slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()), func(s *tls.CipherSuite) bool { return s.Name == name }) {
			bad("tls-cipher-suites", "%q is not known; there are %s", name, strings.Join(CipherSuites(), ", "))
		}
	}
	for _, directive := range t.StrictTransport {
		if err := checkDirective(directive); err != nil {
			bad("strict-transport-security-directives", "%w", err)
		}
	}
}

func checkDirective(directive string) error {
	age, hasAge := strings.CutPrefix(directive, "max-age=")
	if hasAge {
		if _, err := strconv.ParseUint(age, 10, 63); err == nil {
			return nil
		}
	}
	if directive == "includeSubDomains" || directive == "preload" {
		return nil
	}
	return fmt.Errorf("takes max-age=SECONDS, includeSubDomains and preload, got %q", directive)
}
