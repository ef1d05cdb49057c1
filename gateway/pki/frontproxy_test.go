package pki

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The certificate that servers behind the gateway know it by is kept, renewed in time by
// the same authority, and made again where what is there is another authority's.
func TestFrontProxy(t *testing.T) {
	dir, c := t.TempDir(), &clock{time.Now()}
	folder := filepath.Join(dir, "front-proxy")
	open := func() *Serving {
		t.Helper()
		s, err := FrontProxy(dir, c.now)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.Trust())
	first := leaf(t, s)
	if _, err := first.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil || first.Subject.CommonName != "front-proxy-client" {
		t.Errorf("%v, %v", first.Subject, err)
	}
	if _, err := first.Verify(x509.VerifyOptions{Roots: roots}); err == nil {
		t.Error("it is a server's, too")
	}
	if !leaf(t, open()).Equal(first) {
		t.Error("it is another after a restart")
	}
	c.t = first.NotBefore.Add(servingLifetime / 2)
	if !leaf(t, s).Equal(first) {
		t.Error("it is renewed at once")
	}
	c.t = first.NotAfter.Add(-24 * time.Hour)
	second := leaf(t, s)
	if second.Equal(first) || !second.NotAfter.After(first.NotAfter) {
		t.Error("it is not renewed")
	}
	if _, err := second.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: c.t, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Error(err)
	}
	if at := s.Ends(); !at.Equal(second.NotAfter) {
		t.Errorf("it ends %s", at)
	}
	// Another authority.
	was, err := filepath.Glob(filepath.Join(folder, "ca*"))
	if err != nil || len(was) == 0 {
		t.Fatal(was, err)
	}
	for _, path := range was {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	again := open()
	other := x509.NewCertPool()
	other.AppendCertsFromPEM(again.Trust())
	third := leaf(t, again)
	if _, err := third.Verify(x509.VerifyOptions{Roots: other, CurrentTime: c.t, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("by another authority: %v", err)
	}
}

// What cannot be kept is told, by its name; without a clock it is the system's.
func TestFoldersOfKeysThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	if s, err := FrontProxy(dir, nil); err != nil || s.Ends().Before(time.Now()) {
		t.Error(err)
	}
	for _, file := range []string{"ca.key", "client.key"} {
		path := filepath.Join(dir, "front-proxy", file)
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = FrontProxy(dir, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "front proxy: ") {
			t.Errorf("%s: %v", file, err)
		}
		if err := os.WriteFile(path, was, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, proxy := FrontProxy(blocked, nil)
	_, key := TokenKey(blocked)
	_, token := AdminToken(blocked)
	for want, err := range map[string]error{"front proxy: ": proxy, "key of tokens: ": key, "admin token: ": token, "mkdir ": openFolder(blocked), "open ": WriteFile(filepath.Join(blocked, "x"), nil)} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s%v", want, err)
		}
	}
	if err := WriteFile(dir, nil); err == nil {
		t.Error("a file takes the place of a folder")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")); err != nil || len(left) != 0 {
		t.Errorf("it leaves %q, %v", left, err)
	}
	if _, err := readOrCreate(dir, nil); err == nil {
		t.Error("a folder is read")
	}
}

// The key of tokens is made once, and nobody but its owner may read it.
func TestTokenKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	first, err := TokenKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	block, rest := pem.Decode(first)
	if block == nil || len(rest) != 0 || block.Type != "PRIVATE KEY" {
		t.Fatalf("%q", first)
	}
	if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err != nil {
		t.Error(err)
	}
	if again, err := TokenKey(dir); err != nil || !bytes.Equal(again, first) {
		t.Error("it is another the next time", err)
	}
	if err := os.Chmod(filepath.Join(dir, "sa.key"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := TokenKey(dir); err == nil || !strings.HasPrefix(err.Error(), "key of tokens: ") {
		t.Error(err)
	}
}
