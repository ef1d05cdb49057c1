package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/pki/private"
)

// clock is a settable time source.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func selfSigned(t *testing.T, dir string, hosts []string, c *clock) *Serving {
	t.Helper()
	s, err := SelfSigned(dir, hosts, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func leaf(t *testing.T, s *Serving) *x509.Certificate {
	t.Helper()
	cert, err := s.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return cert.Leaf
}

func TestSelfSigned_ClientsCanVerify(t *testing.T) {
	c := &clock{time.Now()}
	s := selfSigned(t, filepath.Join(t.TempDir(), "pki"), Hosts("127.0.0.1"), c)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.Trust()) {
		t.Fatal("the trust bundle holds no certificate")
	}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: s.GetCertificate})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	for _, name := range []string{"127.0.0.1", "::1", "localhost"} {
		conn, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{RootCAs: roots, ServerName: name})
		if err != nil {
			t.Fatalf("as %s: %v", name, err)
		}
		_ = conn.Close()
	}
	if conn, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "elsewhere.example"}); err == nil {
		_ = conn.Close()
		t.Error("verified under a name that the certificate does not carry")
	}
}

func TestSelfSigned_ReusedOnRestartAndRenewed(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "pki"), &clock{time.Now()}
	hosts := []string{"localhost", "127.0.0.1"}
	first := selfSigned(t, dir, hosts, c)
	again := selfSigned(t, dir, hosts, c)
	if !leaf(t, first).Equal(leaf(t, again)) || string(first.Trust()) != string(again.Trust()) {
		t.Error("a restart made new certificates")
	}
	more := selfSigned(t, dir, append(hosts, "gate.example"), c)
	if leaf(t, more).VerifyHostname("gate.example") != nil {
		t.Error("a new host did not get into the certificate")
	}
	if string(first.Trust()) != string(more.Trust()) {
		t.Error("a new host changed the authority")
	}
	before, trusted := leaf(t, more), string(more.Trust())
	c.t = c.t.Add(servingLifetime * 3 / 4)
	renewed := leaf(t, more)
	if renewed.Equal(before) || c.t.After(renewed.NotAfter) {
		t.Error("the certificate was not renewed while running")
	}
	c.t = c.t.Add(caLifetime)
	later := selfSigned(t, dir, hosts, c)
	if string(later.Trust()) == trusted {
		t.Error("an expired authority was kept")
	}
}

// A client that knows an authority goes on trusting what the next one signs, and one that
// knows the next one trusts what is served still: so both can be renewed while clients
// learn of it one by one.
func TestAuthoritiesAreRenewedWithoutAnybodyBeingRefused(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "pki"), &clock{time.Now()}
	s := selfSigned(t, dir, []string{"localhost"}, c)
	first, signed := s.Trust(), leaf(t, s)
	verify := func(what string, trust []byte, leaf *x509.Certificate) {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(trust)
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "localhost", CurrentTime: c.t}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	c.t = c.t.Add(caLifetime*2/3 - time.Hour)
	last := leaf(t, s)
	if last.Equal(signed) {
		t.Error("the certificate was not renewed")
	}
	c.t = c.t.Add(2 * time.Hour)
	next := s.Trust()
	if string(next) == string(first) {
		t.Fatal("a running server kept its authority")
	}
	verify("what the authority before signed", next, leaf(t, s))
	c.t = c.t.Add(servingLifetime * 3 / 4)
	renewed := leaf(t, s)
	if renewed.Equal(last) {
		t.Error("the certificate was not renewed by the next authority")
	}
	verify("for who knows the authority before", first, renewed)
	verify("for who knows the next", next, renewed)
	if again := selfSigned(t, dir, []string{"localhost"}, c); string(again.Trust()) != string(next) {
		t.Error("the next authority was not kept")
	}
}

func TestSelfSigned_SurvivesACrashBetweenKeyAndCertificate(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "pki"), &clock{time.Now()}
	selfSigned(t, dir, []string{"localhost"}, c)
	for _, lost := range []string{"ca.key", "serving.key", "ca.crt", "serving.crt"} {
		if err := os.Remove(filepath.Join(dir, lost)); err != nil {
			t.Fatal(err)
		}
		s := selfSigned(t, dir, []string{"localhost"}, c)
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(s.Trust())
		if _, err := leaf(t, s).Verify(x509.VerifyOptions{Roots: roots, DNSName: "localhost"}); err != nil {
			t.Errorf("after losing %s: %v", lost, err)
		}
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	selfSigned(t, dir, []string{"localhost"}, &clock{time.Now()})
	if _, err := AdminToken(dir); err != nil {
		t.Fatal(err)
	}
	entries := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		entries++
		return nil
	})
	if err != nil || entries != 6 { // the directory, two pairs, the token
		t.Errorf("%d entries, %v", entries, err)
	}
}

// Who else may write where keys are kept could put other keys there.
func TestAFolderThatOthersMayUseIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := openFolder(dir); !errors.Is(err, private.ErrForeign) {
		t.Errorf("it is used: %v", err)
	}
}

func TestAdminToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	first, err := AdminToken(dir)
	if err != nil || len(first) != 2*tokenBytes {
		t.Fatalf("%q %v", first, err)
	}
	if again, err := AdminToken(dir); err != nil || again != first {
		t.Errorf("second call: %q %v", again, err)
	}
	path := filepath.Join(dir, "admin.token")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := AdminToken(dir); err == nil || !strings.Contains(err.Error(), "0644") {
		t.Errorf("a token that everybody can read: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := AdminToken(dir); err == nil {
		t.Error("an empty token was accepted")
	}
}

func TestFromFiles_ReloadsAndNamesTheServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	make := func(host string) (cert, key string) {
		d := filepath.Join(dir, host)
		selfSigned(t, d, []string{host}, &clock{time.Now()})
		return filepath.Join(d, "serving.crt"), filepath.Join(d, "serving.key")
	}
	cert, key := make("one.example")
	s, err := FromFiles(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.ServerName("127.0.0.1"); got != "one.example" {
		t.Errorf("server name for an address: %q", got)
	}
	if got := s.ServerName("one.example"); got != "" {
		t.Errorf("server name for the name itself: %q", got)
	}
	// The operator's certificate is its own trust anchor.
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.Trust())
	if _, err := leaf(t, s).Verify(x509.VerifyOptions{Roots: roots, DNSName: "one.example"}); err != nil {
		t.Errorf("trust: %v", err)
	}

	c := &clock{time.Now()}
	s.now = c.now
	newCert, newKey := make("two.example")
	replace(t, newCert, cert)
	c.t = c.t.Add(2 * checkEvery)
	if got := leaf(t, s).DNSNames; got[0] != "one.example" {
		t.Errorf("half a new pair was taken: %v", got)
	}
	replace(t, newKey, key)
	c.t = c.t.Add(2 * checkEvery)
	if got := leaf(t, s).DNSNames; got[0] != "two.example" {
		t.Errorf("the new pair was not taken: %v", got)
	}
	if _, err := FromFiles(filepath.Join(dir, "none"), key); err == nil {
		t.Error("a missing file was accepted")
	}
}

// A file with the certificate and its key is not published with the key.
func TestFromFiles_TrustHasNoKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	selfSigned(t, dir, []string{"one.example"}, &clock{time.Now()})
	both := filepath.Join(dir, "both.pem")
	var text []byte
	for _, name := range []string{"serving.key", "serving.crt"} {
		part, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, part...)
	}
	if err := os.WriteFile(both, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := FromFiles(both, both)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.Trust()); strings.Contains(got, "PRIVATE") || !strings.Contains(got, "BEGIN CERTIFICATE") {
		t.Errorf("%.60s", got)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.Trust())
	if _, err := leaf(t, s).Verify(x509.VerifyOptions{Roots: roots, DNSName: "one.example"}); err != nil {
		t.Error(err)
	}
}

func replace(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(to, data); err != nil {
		t.Fatal(err)
	}
}

func TestHosts(t *testing.T) {
	has := func(hosts []string, want string) bool {
		for _, h := range hosts {
			if h == want {
				return true
			}
		}
		return false
	}
	if h := Hosts("192.0.2.7"); !has(h, "192.0.2.7") || !has(h, "localhost") || !has(h, "::1") {
		t.Errorf("bound to an address: %v", h)
	}
	if h := Hosts("0.0.0.0"); has(h, "0.0.0.0") {
		t.Errorf("bound to all: %v", h)
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && (has(Hosts("192.0.2.7"), n.IP.String()) || !has(Hosts("0.0.0.0"), n.IP.String())) {
			t.Errorf("%s is told of bound to one address, or not of bound to all", n.IP)
		}
	}
	for _, h := range Hosts("0.0.0.0") {
		if strings.Contains(h, "/") || (net.ParseIP(h) == nil && strings.Contains(h, ":")) {
			t.Errorf("not a host: %q", h)
		}
	}
}
