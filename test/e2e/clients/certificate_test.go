package clients

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/wasmgate/wasmgate/test/harness"
)

// certifiedUser is who the kubeconfigs of [certified] are for.
const certifiedUser = "certified"

// arguments are a program's: the last, a kubeconfig of a user who has a certificate, is
// left out where nobody signs any.
func arguments(t *testing.T, s *server) []string {
	t.Helper()
	args := []string{s.namespace, s.group}
	if s.gateway != nil {
		args = append(args, certified(t, s))
	}
	return args
}

// certified returns a kubeconfig of a user who shows a certificate, which the server
// signs.
func certified(t *testing.T, s *server) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: certifiedUser}}, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := clientcmdapi.NewConfig()
	c.Clusters["test"] = &clientcmdapi.Cluster{Server: s.URL, CertificateAuthorityData: s.CA}
	c.AuthInfos["test"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: sign(t, s, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request})),
		ClientKeyData:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}
	c.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	c.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// sign has a server sign a request for a certificate.
func sign(t *testing.T, s *server, request []byte) []byte {
	t.Helper()
	const all = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	api := s.API(t)
	obj := api.Post(all, harness.Object{"metadata": map[string]any{"name": s.namespace}, "spec": map[string]any{
		"request": request, "signerName": "kubernetes.io/kube-apiserver-client", "usages": []any{"client auth"},
	}}).Want(201).Object()
	obj["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Approved", "status": "True", "reason": "Said", "message": "so"}}}
	api.Put(all+"/"+s.namespace+"/approval", obj).Want(200)
	issued := api.Eventually(all+"/"+s.namespace, func(r *harness.Reply) bool { return r.Code == 200 && r.Str("status.certificate") != "" })
	text, err := base64.StdEncoding.DecodeString(issued.Str("status.certificate"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// byName returns a kubeconfig like another that names a server of this machine by its name:
// a client that compares no addresses of certificates trusts no address.
func byName(t *testing.T, kubeconfig string) string {
	t.Helper()
	c, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range c.Clusters {
		cluster.Server = strings.Replace(cluster.Server, "127.0.0.1", "localhost", 1)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}
