package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

// testCA is an authority that writes what it signs into a folder.
type testCA struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newTestCA(t *testing.T, dir, name string) *testCA {
	t.Helper()
	ca := &testCA{t: t, dir: dir}
	ca.cert, ca.key = ca.issue(name, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: name}})
	return ca
}

// issue writes NAME.crt and NAME.key, signed by the authority, or by itself as the
// first one is.
func (ca *testCA) issue(name string, tmpl *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	ca.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		ca.t.Fatal(err)
	}
	tmpl.SerialNumber, tmpl.NotBefore, tmpl.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	parent, signer := ca.cert, ca.key
	if parent == nil {
		parent, signer = tmpl, key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, key.Public(), signer)
	if err != nil {
		ca.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		ca.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(ca.dir, name+file), pem.EncodeToMemory(block), 0o600); err != nil {
			ca.t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		ca.t.Fatal(err)
	}
	return cert, key
}

// TestTheProgramStandsInForKubeAPIServer: started with the arguments that
// controller-runtime's envtest gives to kube-apiserver, and nothing else, the gateway
// serves with the certificates that it finds in --cert-dir, keeps everything there,
// and takes the client certificates of envtest's users.
func TestTheProgramStandsInForKubeAPIServer(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	etcd := harness.Start(t, harness.Options{}).EtcdURL
	certs, workDir := t.TempDir(), t.TempDir()
	ca := newTestCA(t, certs, "ca")
	ca.issue("apiserver", &x509.Certificate{Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	newTestCA(t, certs, "sa-signer")
	users := newTestCA(t, certs, "client-cert-auth-ca")
	users.issue("admin", &x509.Certificate{Subject: pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	port := harness.Port(t)
	in := func(name string) string { return filepath.Join(certs, name) }
	args := []string{
		"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--cert-dir=" + certs,
		"--client-ca-file=" + in("client-cert-auth-ca.crt"), "--disable-admission-plugins=ServiceAccount", "--etcd-servers=" + etcd,
		"--secure-port=" + port, "--service-account-issuer=https://127.0.0.1:" + port + "/", "--service-account-key-file=" + in("sa-signer.crt"),
		"--service-account-signing-key-file=" + in("sa-signer.key"), "--service-cluster-ip-range=10.0.0.0/24",
	}
	binary := harness.Binary(t)
	for want, args := range map[string][]string{
		"--authorization-mode: there is no mode Node here": append(args[:len(args):len(args)], "--authorization-mode=Node"),
		"--allow-privileged: must":                         append(args[:len(args):len(args)], "--allow-privileged=false"),
		"unknown flag: --kubelet-ca":                       append(args[:len(args):len(args)], "--kubelet-ca"),
	} {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Dir = workDir
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("started, or said something else than %q: %v\n%s", want, err, out)
		}
	}

	standsIn(t, workDir, ca, port, in, args, binary)
}

// standsIn starts the program as an environment for tests does, and asks whether it serves.
func standsIn(t *testing.T, workDir string, ca *testCA, port string, in func(name string) string, args []string, binary string) {
	t.Helper()
	logs, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = workDir, logs, logs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("it did not end well: %v", err)
		}
		if said, err := os.ReadFile(logs.Name()); err != nil || t.Failed() {
			t.Errorf("the log: %v\n%s", err, said)
		}
	}()
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	pair, err := tls.LoadX509KeyPair(in("admin.crt"), in("admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}}}
	get := func(path string) (int, string) {
		r, err := client.Get("https://127.0.0.1:" + port + path)
		if err != nil {
			return 0, err.Error()
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return 0, err.Error()
		}
		return r.StatusCode, string(body)
	}
	harness.Eventually(t, "healthy", func() bool { code, _ := get("/healthz"); return code == 200 })
	if code, body := get("/api/v1/namespaces/default"); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	if left, err := os.ReadDir(workDir); err != nil || len(left) > 0 {
		t.Errorf("written where it was started: %v, %v", left, err)
	}
	if _, err := os.Stat(in("wasmgate-data")); err != nil {
		t.Errorf("the data directory is not below --cert-dir: %v", err)
	}
	client.CloseIdleConnections()
}
