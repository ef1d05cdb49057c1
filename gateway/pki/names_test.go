package pki

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// comes is a connection to an address.
type comes struct {
	net.Conn
	to string
}

func (c comes) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(c.to), Port: 443}
}

func TestNamesChooseTheCertificate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	of := func(host string, patterns ...string) Named {
		d := filepath.Join(dir, host)
		selfSigned(t, d, []string{host}, &clock{time.Now()})
		s, err := FromFiles(filepath.Join(d, "serving.crt"), filepath.Join(d, "serving.key"))
		if err != nil {
			t.Fatal(err)
		}
		return Named{s, patterns}
	}
	all := Names{Otherwise: of("usual.example").Serving, All: []Named{
		of("both.invalid"), of("one.example"), of("two.example", "*.example", "three.example"), of("other.example", "two.example", "three.example", "127.0.0.2", "::2", "*", "both.invalid"), of("*.wild.org"),
	}}
	for name, want := range map[string]string{
		"one.example":       "one.example",
		"ONE.example":       "one.example",
		"one.example.":      "one.example",
		"two.example":       "other.example", // which was given it, as the other was not
		"three.example":     "two.example",   // the first
		"five.example":      "two.example",
		"both.invalid":      "other.example", // given before a certificate's own
		"a.five.example":    "usual.example",
		"a.wild.org":        "*.wild.org",
		"single":            "other.example",
		"elsewhere.invalid": "usual.example",
	} {
		cert, err := all.GetCertificate(&tls.ClientHelloInfo{ServerName: name})
		if err != nil || cert.Leaf.DNSNames[0] != want {
			t.Errorf("%s: %v, %v, want %s", name, cert.Leaf.DNSNames, err, want)
		}
	}
	for address, want := range map[string]string{"127.0.0.2": "other.example", "::2": "other.example", "127.0.0.1": "usual.example"} {
		if cert, err := all.GetCertificate(&tls.ClientHelloInfo{Conn: comes{to: address}}); err != nil || cert.Leaf.DNSNames[0] != want {
			t.Errorf("%s: %v, %v, want %s", address, cert.Leaf.DNSNames, err, want)
		}
	}
	// A certificate that was replaced has its names, too.
	c := &clock{time.Now()}
	all.All[1].now = c.now
	for _, file := range []string{"serving.crt", "serving.key"} {
		replace(t, filepath.Join(dir, "usual.example", file), filepath.Join(dir, "one.example", file))
	}
	c.t = c.t.Add(2 * checkEvery)
	for _, name := range []string{"one.example", "usual.example"} {
		if cert, err := all.GetCertificate(&tls.ClientHelloInfo{ServerName: name}); err != nil || cert.Leaf.DNSNames[0] != map[string]string{"one.example": "two.example", "usual.example": "usual.example"}[name] {
			t.Errorf("%s, after it was replaced: %v, %v", name, cert.Leaf.DNSNames, err)
		}
	}
	if cert, err := (Names{Otherwise: all.Otherwise}).GetCertificate(&tls.ClientHelloInfo{}); err != nil || cert.Leaf.DNSNames[0] != "usual.example" {
		t.Errorf("without any: %v, %v", cert.Leaf.DNSNames, err)
	}
}
