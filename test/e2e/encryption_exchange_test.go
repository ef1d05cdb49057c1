package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/keyservice"
)

// encryptionOfEach encrypts one kind with each provider, and leaves the others as they
// are; a key service is at the socket.
func encryptionOfEach(socket string) string {
	return encryptionConfig(
		"secrets", encryptionKeys("aesgcm", "one", encryptionKey1)+", {identity: {}}",
		"configmaps", encryptionKeys("aescbc", "one", encryptionKey1)+", {identity: {}}",
		"serviceaccounts", encryptionKeys("secretbox", "one", encryptionKey1)+", {identity: {}}",
		"limitranges", "{kms: {apiVersion: v2, name: service, endpoint: 'unix://"+socket+"'}}, {identity: {}}",
	)
}

// startKeyService starts a key service and returns its socket.
func startKeyService(t *testing.T) (socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kms") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "socket")
	stop, err := keyservice.New("key").Serve(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = os.RemoveAll(dir) })
	return socket
}

// ofEach are the kinds of encryptionOfEach, and how their values begin.
var ofEach = map[string]string{
	"secrets": "k8s:enc:aesgcm:v1:one:", "configmaps": "k8s:enc:aescbc:v1:one:", "serviceaccounts": "k8s:enc:secretbox:v1:one:",
	"limitranges": "k8s:enc:kms:v2:service:", "resourcequotas": "k8s\x00",
}

// TestEncryptionOfEach: each provider encrypts, and decrypts after a restart.
func TestEncryptionOfEach(t *testing.T) {
	t.Parallel()
	e := startEncrypting(t, encryptionOfEach(startKeyService(t)))
	api := e.API(t)
	ns := namespace(t, api)
	path := "/api/v1/namespaces/" + ns + "/"
	for kind := range ofEach {
		api.Post(path+kind, object{"metadata": map[string]any{"name": "one", "annotations": map[string]any{"a": "b"}}}).Want(201)
	}
	e.Terminate(t)
	e.Restart(t)
	for kind, begin := range ofEach {
		api.Get(path+kind+"/one").Want(200).Equal("metadata.annotations.a", "b")
		e.wantKept("/registry/"+kind+"/"+ns+"/", begin)
	}
	api.Get("/readyz/kms-providers").Want(200)
}

// kubeAPIServerVariable names the program of a kube-apiserver, for a test that no
// machine can run that has none.
const kubeAPIServerVariable = "WASMGATE_TEST_KUBE_APISERVER"

// TestEncryptionBesideKubeAPIServer has a gateway and a kube-apiserver serve one store
// with one file: each reads, changes and reads again what the other wrote, with each
// provider.
func TestEncryptionBesideKubeAPIServer(t *testing.T) {
	program := os.Getenv(kubeAPIServerVariable)
	if program == "" {
		t.Skip(kubeAPIServerVariable + " names no kube-apiserver")
	}
	e := startEncrypting(t, encryptionOfEach(startKeyService(t)))
	ns := namespace(t, e.API(t))
	url := startKubeAPIServer(t, program, e.EtcdURL, e.file)
	servers := map[string]func(method, path, body string) (int, string){
		"gateway": func(method, path, body string) (int, string) {
			r := e.API(t).Do(method, path, body, "Content-Type", contentTypeOf(method))
			return r.Code, string(r.Body)
		},
		"kube-apiserver": func(method, path, body string) (int, string) { return askInsecurely(t, method, url+path, body) },
	}
	for writer, write := range servers {
		for kind, begin := range ofEach {
			path := "/api/v1/namespaces/" + ns + "/" + kind
			code, reply := write("POST", path, `{"metadata":{"name":"by-`+writer+`","annotations":{"by":"`+writer+`"}}}`)
			if code != 201 {
				t.Fatalf("%s, %s: %d %s", writer, kind, code, reply)
			}
			e.wantKept("/registry/"+kind+"/"+ns+"/by-"+writer, begin)
			for reader, read := range servers {
				one := path + "/by-" + writer
				if code, reply := read("GET", one, ""); code != 200 || !strings.Contains(reply, `"by":"`+writer+`"`) {
					t.Errorf("%s by %s is for %s: %d %s", kind, writer, reader, code, reply)
				}
				if code, reply := read("PATCH", one, `{"metadata":{"annotations":{"seen":"`+reader+`"}}}`); code != 200 || !strings.Contains(reply, `"seen":"`+reader+`"`) {
					t.Errorf("%s by %s, changed by %s: %d %s", kind, writer, reader, code, reply)
				}
				e.wantKept("/registry/"+kind+"/"+ns+"/by-"+writer, begin)
			}
		}
	}
}

func contentTypeOf(method string) string {
	if method == "PATCH" {
		return "application/merge-patch+json"
	}
	return "application/json"
}

// askInsecurely asks a server of this machine whose certificate nobody has signed.
func askInsecurely(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer administrator")
	r.Header.Set("Content-Type", contentTypeOf(method))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(reply)
}

// startKubeAPIServer starts one over an etcd, and returns its URL once it is ready.
func startKubeAPIServer(t *testing.T, program, etcd, encryption string) (url string) {
	t.Helper()
	dir := t.TempDir()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	port := harness.Port(t)
	sa, tokens := filepath.Join(dir, "sa.key"), filepath.Join(dir, "tokens.csv")
	for file, data := range map[string][]byte{
		sa:     pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		tokens: []byte("administrator,administrator,administrator,system:masters\n"),
	} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "--etcd-servers", etcd, "--bind-address", "127.0.0.1", "--secure-port", port, "--cert-dir", dir,
		"--service-account-key-file", sa, "--service-account-signing-key-file", sa, "--service-account-issuer", "https://kubernetes.default.svc",
		"--token-auth-file", tokens, "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24",
		"--disable-admission-plugins", "ServiceAccount", "--encryption-provider-config", encryption)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url = "https://127.0.0.1:" + port
	harness.Eventually(t, "kube-apiserver is ready", func() bool {
		code, _ := askInsecurely(t, "GET", url+"/readyz", "")
		return code == 200
	})
	return url
}
