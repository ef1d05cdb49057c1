package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/wasmgate/wasmgate/gateway/options"
)

// patience bounds every wait in these tests.
const patience = time.Minute

// servingIn are the options of a gateway over an embedded etcd in dir.
func servingIn(dir string) options.Serve {
	o := options.Default()
	o.DataDir, o.SecurePort = dir, 0
	return o
}

// instance is a gateway that runs in this process.
type instance struct {
	t     *testing.T
	url   string
	token string
	http  *http.Client
	stop  context.CancelFunc
	ended chan error
}

// start runs a gateway until stop, or the end of the test.
func start(t *testing.T, o options.Serve) *instance {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	i := &instance{t: t, stop: cancel, ended: make(chan error, 1)}
	started := make(chan options.Started, 1)
	go func() {
		i.ended <- Run(ctx, o, zerolog.Nop(), func(s options.Started) { started <- s })
		close(i.ended)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-i.ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	select {
	case s := <-started:
		i.connect(s)
	case err := <-i.ended:
		t.Fatalf("the gateway did not start: %v", err)
	case <-time.After(patience):
		t.Fatal("the gateway did not start in time")
	}
	return i
}

func (i *instance) connect(s options.Started) {
	i.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		i.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(config.CAData) {
		i.t.Fatal("the kubeconfig has no certificate authority")
	}
	i.url, i.token = s.URL, config.BearerToken
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: config.ServerName}}
	i.http = &http.Client{
		Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	i.t.Cleanup(transport.CloseIdleConnections)
}

// end stops the gateway and returns what Run did.
func (i *instance) end() error {
	i.t.Helper()
	i.stop()
	select {
	case err := <-i.ended:
		return err
	case <-time.After(patience):
		return errors.New("the gateway did not stop in time")
	}
}

// answer is a reply that was read.
type answer struct {
	code   int
	header http.Header
	body   string
}

// do sends a request as the administrator; headers are "Name: value".
func (i *instance) do(method, path, body string, headers ...string) answer {
	i.t.Helper()
	return i.as(i.token, method, path, body, headers...)
}

// define makes a definition and waits until it is served: until it is
// established, and then for a write to it, which is answered once this gateway
// serves what it says.
func (i *instance) define(text string) {
	i.t.Helper()
	const all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	made := i.do("POST", all, text)
	var o struct{ Metadata struct{ Name string } }
	if err := json.Unmarshal([]byte(made.body), &o); err != nil || made.code != 201 {
		i.t.Fatalf("%d %s", made.code, made.body)
	}
	req, err := http.NewRequest("GET", i.url+all+"?watch=true&fieldSelector=metadata.name="+o.Metadata.Name, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+i.token)
	resp, err := i.http.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer resp.Body.Close()
	established := func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	}
	var event struct {
		Object apiextensionsv1.CustomResourceDefinition
	}
	for events := json.NewDecoder(resp.Body); !slices.ContainsFunc(event.Object.Status.Conditions, established); {
		if err := events.Decode(&event); err != nil {
			i.t.Fatalf("%s is not established: %v", o.Metadata.Name, err)
		}
	}
	if got := i.do("PATCH", all+"/"+o.Metadata.Name, `{"metadata":{"labels":{"established":"seen"}}}`, "Content-Type: application/merge-patch+json"); got.code != 200 {
		i.t.Fatalf("%d %s", got.code, got.body)
	}
}

func (i *instance) as(token, method, path, body string, headers ...string) answer {
	i.t.Helper()
	req, err := http.NewRequest(method, i.url+path, strings.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	resp, err := i.http.Do(req)
	if err != nil {
		i.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		i.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(data)}
}

func write(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
