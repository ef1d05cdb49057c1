package pki

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Serving is a serving certificate that renews itself. It is safe for
// concurrent use.
type Serving struct {
	now func() time.Time
	// next returns the certificate for now, given the present one (nil at
	// first). It returns the present one while nothing has changed.
	next func(now time.Time, current *tls.Certificate) (*tls.Certificate, error)

	mu      sync.Mutex
	trust   []byte           // guarded by mu, which next is called with
	current *tls.Certificate // guarded by mu
	checked time.Time        // guarded by mu
}

// checkEvery is how often a handshake looks whether the certificate should be
// another one.
const checkEvery = time.Minute

// SelfSigned returns a serving certificate for hosts (names and IP addresses)
// from the gateway's own certificate authority. Both are kept in dir. now
// tells the time; nil means the system's clock.
func SelfSigned(dir string, hosts []string, now func() time.Time) (*Serving, error) {
	if now == nil {
		now = time.Now
	}
	if err := openFolder(dir); err != nil {
		return nil, fmt.Errorf("pki: %w", err)
	}
	ca, err := openAuthority(dir, now())
	if err != nil {
		return nil, err
	}
	key, err := loadKey(filepath.Join(dir, "serving.key"))
	if err != nil {
		return nil, fmt.Errorf("serving certificate: %w", err)
	}
	s := &Serving{now: now, trust: ca.pem()}
	s.next = func(now time.Time, current *tls.Certificate) (*tls.Certificate, error) {
		if due(ca.cert, now) {
			next, err := openAuthority(dir, now)
			if err != nil {
				return nil, err
			}
			ca, s.trust = next, next.pem()
		}
		if current != nil && !due(current.Leaf, now) {
			return current, nil
		}
		return ca.serving(filepath.Join(dir, "serving.crt"), key, hosts, now)
	}
	_, err = s.GetCertificate(nil)
	return s, err
}

// FromFiles returns the operator's own serving certificate. The files are read
// again when they change, so a renewed certificate needs no restart; while
// they are unreadable the last good one is kept.
func FromFiles(certFile, keyFile string) (*Serving, error) {
	s := &Serving{now: time.Now}
	var seen [2]time.Time
	s.next = func(_ time.Time, current *tls.Certificate) (*tls.Certificate, error) {
		at := [2]time.Time{modified(certFile), modified(keyFile)}
		if current != nil && at == seen {
			return current, nil
		}
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("serving certificate: %w", err)
		}
		bundle, err := os.ReadFile(certFile)
		if err != nil {
			return nil, fmt.Errorf("serving certificate: %w", err)
		}
		seen, s.trust = at, Certificates(bundle) // the file may hold the key, too
		return &pair, nil
	}
	_, err := s.GetCertificate(nil)
	return s, err
}

// GetCertificate is for tls.Config.
func (s *Serving) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && now.Sub(s.checked).Abs() < checkEvery {
		return s.current, nil
	}
	s.checked = now
	next, err := s.next(now, s.current)
	if err != nil && s.current == nil {
		return nil, err
	}
	if err == nil {
		s.current = next
	}
	return s.current, nil
}

// Trust returns the PEM bundle by which a client can verify the certificate:
// the gateway's own authority, or the operator's certificate itself.
func (s *Serving) Trust() []byte {
	_, _ = s.GetCertificate(nil) // looks whether it is time for another
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trust
}

// Covers tells whether a client that connects to host can verify the certificate.
func (s *Serving) Covers(host string) bool {
	cert, err := s.GetCertificate(nil)
	return err == nil && cert.Leaf.VerifyHostname(host) == nil
}

// Ends is when the certificate ends.
func (s *Serving) Ends() time.Time {
	cert, err := s.GetCertificate(nil)
	if err != nil {
		return time.Time{}
	}
	return cert.Leaf.NotAfter
}

// ServerName returns the name to verify the certificate under when a client
// connects to host: empty if host itself will do, else a name that the
// certificate carries.
func (s *Serving) ServerName(host string) string {
	cert, err := s.GetCertificate(nil)
	if err != nil || s.Covers(host) {
		return ""
	}
	if names := cert.Leaf.DNSNames; len(names) > 0 {
		return names[0]
	}
	return ""
}

// Hosts are the names and addresses under which a server bound to an address
// is reached from the machine it runs on, and from others if it listens to
// them.
func Hosts(bind string) []string {
	hosts := []string{"localhost", "127.0.0.1", "::1",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	add := func(h string) {
		if h != "" && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	ip := net.ParseIP(bind)
	if ip == nil || !ip.IsUnspecified() {
		add(bind)
	}
	if ip != nil && ip.IsLoopback() {
		return hosts
	}
	if name, err := os.Hostname(); err == nil {
		add(name)
	}
	if ip == nil || !ip.IsUnspecified() {
		return hosts
	}
	addrs, _ := net.InterfaceAddrs() // without them the certificate has fewer names
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			add(n.IP.String())
		}
	}
	return hosts
}

// serving returns the certificate in a file if it still serves, or issues a
// new one there.
func (a *authority) serving(path string, key *ecdsa.PrivateKey, hosts []string, now time.Time) (*tls.Certificate, error) {
	cert := usable(path, key, now)
	if cert == nil || cert.CheckSignatureFrom(a.cert) != nil || !covers(cert, hosts) {
		tmpl := &x509.Certificate{
			Subject:     pkix.Name{CommonName: "wasmgate"},
			NotBefore:   now.Add(-backdate),
			NotAfter:    now.Add(servingLifetime),
			KeyUsage:    x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		for _, h := range hosts {
			if ip := net.ParseIP(h); ip != nil {
				tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
			} else {
				tmpl.DNSNames = append(tmpl.DNSNames, h)
			}
		}
		var err error
		if cert, err = issue(path, tmpl, a.cert, key, a.key); err != nil {
			return nil, fmt.Errorf("serving certificate: %w", err)
		}
	}
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}, nil
}

func covers(cert *x509.Certificate, hosts []string) bool {
	for _, h := range hosts {
		if cert.VerifyHostname(h) != nil {
			return false
		}
	}
	return true
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
