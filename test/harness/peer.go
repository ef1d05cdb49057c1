package harness

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// PeerBinaries is the environment variable with the folder of kube-apiserver and etcd,
// for recordings of what kube-apiserver does with flags of its own.
const PeerBinaries = "WASMGATE_PEER_BIN"

// Peer is a kube-apiserver that was started here, over an etcd of its own.
type Peer struct {
	Server
	server *process
}

// StartPeer starts a kube-apiserver with flags and waits until it is ready.
func StartPeer(t testing.TB, args ...string) *Peer {
	t.Helper()
	dir := t.TempDir()
	server, client := peerURL(t), peerURL(t)
	startPeerProcess(t, filepath.Join(dir, "etcd.log"), "etcd", "--data-dir", filepath.Join(dir, "etcd"),
		"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peerURL(t))
	_, port, _ := strings.Cut(strings.TrimPrefix(server, "http://"), ":")
	p := &Peer{Server: Server{URL: "https://127.0.0.1:" + port, Token: "admintoken", External: true}}
	p.server = startPeerProcess(t, filepath.Join(dir, "kube-apiserver.log"), "kube-apiserver", append(PeerFlags(t, dir, port, client), args...)...)
	p.prepare()
	api := p.API(t)
	if err := p.server.await(startTimeout, "ready", func() (bool, error) {
		reply, err := api.Try(http.MethodGet, "/readyz", nil)
		return err == nil && reply.Code == http.StatusOK, err
	}); err != nil {
		t.Fatal(err)
	}
	return p
}

// PeerFlags are the flags of a kube-apiserver that listens at a port.
func PeerFlags(t testing.TB, dir, port, etcd string) []string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"sa.key":     pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"tokens.csv": []byte("admintoken,admin,admin,system:masters\nusertoken,user,user\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{
		"--etcd-servers", etcd, "--secure-port", port, "--bind-address", "127.0.0.1", "--cert-dir", filepath.Join(dir, "certs"),
		"--service-account-key-file", filepath.Join(dir, "sa.key"), "--service-account-signing-key-file", filepath.Join(dir, "sa.key"),
		"--service-account-issuer", "https://kubernetes.default.svc", "--token-auth-file", filepath.Join(dir, "tokens.csv"),
		"--service-cluster-ip-range", "10.0.0.0/24", "--disable-admission-plugins", "ServiceAccount",
	}
}

// PeerRefusal is what kube-apiserver says of flags that it does not start with.
func PeerRefusal(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(os.Getenv(PeerBinaries), "kube-apiserver"), append(PeerFlags(t, t.TempDir(), "1", "http://127.0.0.1:1"), args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if cmd.Run() == nil {
		t.Errorf("kube-apiserver starts with %q", args)
	}
	return out.String()
}

func startPeerProcess(t testing.TB, log, name string, args ...string) *process {
	t.Helper()
	logs, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	p, err := startProcess(exec.Command(filepath.Join(os.Getenv(PeerBinaries), name), args...), logs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.end(syscall.SIGKILL, startTimeout)
		_ = logs.Close()
	})
	return p
}

func peerURL(t testing.TB) string {
	t.Helper()
	url, err := freeURL()
	if err != nil {
		t.Fatal(err)
	}
	return url
}
