package pki

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Named is a certificate for clients that ask for one of some names.
type Named struct {
	*Serving
	// Patterns are those names, in lower case: a DNS name, maybe with * as its first
	// label, or an IP address. Without any they are those of the certificate.
	Patterns []string
}

// Names choose a certificate by the name that a client asks for. They are safe for
// concurrent use.
type Names struct {
	All []Named
	// Otherwise is for all other clients.
	Otherwise *Serving
}

// GetCertificate is for tls.Config. The name itself is looked for before a pattern, and
// both among given ones before those of certificates. A client without a name has asked
// for the address that it came to.
func (n Names) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if len(n.All) == 0 {
		return n.Otherwise.GetCertificate(hello)
	}
	name := strings.TrimSuffix(strings.ToLower(hello.ServerName), ".")
	wanted := []string{name, "*"}
	if _, parent, ok := strings.Cut(name, "."); ok {
		wanted[1] = "*." + parent
	}
	if name == "" {
		host, _, err := net.SplitHostPort(hello.Conn.LocalAddr().String())
		if err != nil {
			return n.Otherwise.GetCertificate(hello)
		}
		wanted = []string{host}
	}
	for _, name := range wanted {
		for _, given := range []bool{true, false} {
			if found := n.of(name, given); found != nil {
				return found, nil
			}
		}
	}
	return n.Otherwise.GetCertificate(hello)
}

// of is the first certificate that has a name, nil if none has; given tells among which.
func (n Names) of(name string, given bool) *tls.Certificate {
	for _, one := range n.All {
		if given != (len(one.Patterns) > 0) {
			continue
		}
		cert, err := one.Serving.GetCertificate(nil)
		if err != nil { // none was ever read, which New refuses
			continue
		}
		names := one.Patterns
		if !given {
			names = namesOf(cert.Leaf)
		}
		if slices.Contains(names, name) {
			return cert
		}
	}
	return nil
}

// namesOf are the names of a certificate that a client may ask for, without addresses:
// clients that come to those ask for nothing.
func namesOf(cert *x509.Certificate) (names []string) {
	cn := cert.Subject.CommonName
	if net.ParseIP(cn) == nil && (cn == "*" || len(validation.IsDNS1123Subdomain(strings.TrimPrefix(cn, "*."))) == 0) {
		names = append(names, cn)
	}
	for _, name := range cert.DNSNames {
		names = append(names, strings.ToLower(name))
	}
	return names
}
