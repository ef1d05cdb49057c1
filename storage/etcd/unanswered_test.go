package etcd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// authority writes a new authority's certificate, and a certificate of its own for
// 127.0.0.1, which it returns.
func authority(t *testing.T, file string) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "etcd"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// What TLS has against a connection is said, not that nobody answered.
func TestOpen_SaysWhyNobodyAnswers(t *testing.T) {
	good, other := filepath.Join(t.TempDir(), "good.pem"), filepath.Join(t.TempDir(), "other.pem")
	pool, certificate := authority(t, good)
	authority(t, other)
	serve := func(c *tls.Config) string {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		if c == nil {
			s.Start()
		} else {
			s.TLS, s.EnableHTTP2 = c, true
			s.StartTLS()
		}
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	plain := serve(nil)
	encrypted := serve(&tls.Config{Certificates: []tls.Certificate{certificate}})
	asking := serve(&tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	for name, c := range map[string]struct {
		url, authorities, want string
	}{
		"no authority":      {"https://" + encrypted, "", "certificate signed by unknown authority"},
		"another authority": {"https://" + encrypted, other, "certificate signed by unknown authority"},
		"no certificate":    {"https://" + asking, good, "certificate required"},
		"http to TLS":       {"http://" + encrypted, "", "it speaks TLS: its URL begins with https://"},
		"https to none":     {"https://" + plain, good, "it speaks no TLS: its URL begins with http://"},
		"nobody":            {"http://127.0.0.1:1", "", "connection refused"},
	} {
		_, err := Open(t.Context(), Config{Endpoints: []string{c.url}, CAFile: c.authorities, DialTimeout: time.Second, Logger: zerolog.Nop()})
		if err == nil || !strings.Contains(err.Error(), c.url+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := Open(t.Context(), Config{Endpoints: []string{"https://" + plain}, CAFile: filepath.Join(t.TempDir(), "none"), Logger: zerolog.Nop()})
	if !errors.Is(err, ErrCAFile) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file of authorities: %v", err)
	}
	if err := LookAtFiles(Config{CAFile: os.DevNull}); !errors.Is(err, ErrCAFile) {
		t.Errorf("a file without authorities: %v", err)
	}
	if err := LookAtFiles(Config{CAFile: good}); err != nil {
		t.Errorf("a file with one: %v", err)
	}
	_, err = Open(t.Context(), Config{Endpoints: []string{"https://" + plain}, CAFile: good, CertFile: "none", KeyFile: "none", Logger: zerolog.Nop()})
	if !errors.Is(err, ErrCertificate) {
		t.Errorf("no certificate: %v", err)
	}
}
