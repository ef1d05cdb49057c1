package options

import (
	"crypto/tls"
	"fmt"
	"maps"
	"math"
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
	// Curves are the numbers of the key exchanges that are used, as Go's crypto/tls has
	// them; Go's own choice if empty, which also has the order.
	Curves []int32
	// Named are the certificates for clients that ask for a name, as [ServerNames] has them.
	Named []string
}

// NamedCertificate is a certificate for clients that ask for one of some names: for
// patterns, or the certificate's own if there are none.
type NamedCertificate struct {
	CertFile, KeyFile string
	Patterns          []string
}

// ServerNames are the certificates of --tls-sni-cert-key, each CERT,KEY or
// CERT,KEY:PATTERN,PATTERN.
func (t TLS) ServerNames() (all []NamedCertificate, err error) {
	for _, text := range t.Named {
		pair, patterns, named := strings.Cut(text, ":")
		cert, key, two := strings.Cut(pair, ",")
		n := NamedCertificate{CertFile: strings.TrimSpace(cert), KeyFile: strings.TrimSpace(key)}
		if !two || n.CertFile == "" || n.KeyFile == "" || strings.Contains(key, ",") {
			return nil, fmt.Errorf("expected comma separated certificate and key file paths, got %q", text)
		}
		if named {
			for p := range strings.SplitSeq(patterns, ",") {
				if p = strings.TrimSpace(p); p == "" {
					return nil, fmt.Errorf("empty names are not allowed, got %q", text)
				}
				n.Patterns = append(n.Patterns, strings.ToLower(p))
			}
		}
		all = append(all, n)
	}
	return all, nil
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
	for _, id := range t.Curves {
		c.CurvePreferences = append(c.CurvePreferences, tls.CurveID(id))
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
	for i, id := range t.Curves {
		switch {
		case id <= 0 || id > math.MaxUint16:
			bad("tls-curve-preferences", "%d is out of range (must be 1-%d)", id, math.MaxUint16)
		case slices.Contains(t.Curves[:i], id):
			bad("tls-curve-preferences", "%d is there twice", id)
		case strings.HasPrefix(tls.CurveID(id).String(), "CurveID("):
			bad("tls-curve-preferences", "%d is not known", id)
		}
	}
	if _, err := t.ServerNames(); err != nil {
		bad("tls-sni-cert-key", "%w", err)
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
