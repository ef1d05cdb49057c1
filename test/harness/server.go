package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Server is a running API server as a client sees it.
type Server struct {
	// URL is its address, without a slash at the end.
	URL string
	// Token is an administrator's bearer token.
	Token string
	// CA is the PEM certificate its own is verified with; empty means that it
	// is not verified.
	CA []byte
	// EtcdURL is the client address of the etcd behind it.
	EtcdURL string
	// Kubeconfig is a file for kubectl.
	Kubeconfig string
	// External tells a server named by the environment from a gateway that was
	// started here.
	External bool

	client *http.Client
}

// Config returns a client-go configuration that does not limit the rate of
// requests.
func (s *Server) Config() *rest.Config {
	return &rest.Config{
		Host: s.URL, BearerToken: s.Token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.CA, Insecure: len(s.CA) == 0},
	}
}

// tlsConfig returns how a client verifies the server.
func (s *Server) tlsConfig() *tls.Config {
	if len(s.CA) == 0 {
		return &tls.Config{InsecureSkipVerify: true}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.CA)
	return &tls.Config{RootCAs: pool}
}

// prepare makes the HTTP client. It speaks HTTP/1.1 only, so that a watch is a
// connection of its own on every server.
func (s *Server) prepare() {
	s.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: s.tlsConfig(), MaxIdleConnsPerHost: 64, DisableCompression: true,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}}
}

// Etcd returns a client of the etcd behind the server, closed when the test
// ends. The test is skipped when it is not known where that etcd is.
func (s *Server) Etcd(t testing.TB) *clientv3.Client {
	t.Helper()
	if s.EtcdURL == "" {
		t.Skip("the etcd behind the server is not known")
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.EtcdURL}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Compact makes etcd forget the history before the present revision.
func (s *Server) Compact(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	etcd := s.Etcd(t)
	now, err := etcd.Get(ctx, "none")
	if err == nil {
		_, err = etcd.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err != nil {
		t.Fatalf("etcd: compact: %v", err)
	}
}

// external returns the server that the environment names, or nil.
func external(dir string) (*Server, error) {
	url := os.Getenv("WASMGATE_TEST_TARGET")
	if url == "" {
		return nil, nil
	}
	s := &Server{
		URL: url, Token: os.Getenv("WASMGATE_TEST_TOKEN"), EtcdURL: os.Getenv("WASMGATE_TEST_ETCD"),
		Kubeconfig: filepath.Join(dir, "kubeconfig"), External: true,
	}
	s.prepare()
	return s, s.writeKubeconfig()
}

func (s *Server) writeKubeconfig() error {
	c := clientcmdapi.NewConfig()
	c.Clusters["test"] = &clientcmdapi.Cluster{Server: s.URL, CertificateAuthorityData: s.CA, InsecureSkipTLSVerify: len(s.CA) == 0}
	c.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: s.Token}
	c.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	c.CurrentContext = "test"
	return clientcmd.WriteToFile(*c, s.Kubeconfig)
}
