package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestDefinitionDeletedOnAnotherGateway has one gateway hold a creation in a
// slow conversion webhook while the definition is deleted on another.
func TestDefinitionDeletedOnAnotherGateway_CRD24(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	first := harness.Start(t, harness.Options{})
	second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL})
	hook := harness.NewWebhook(t)
	c := newWebhookCronTabs(t, &first.Server, hook)
	there := *c
	there.s, there.api = &second.Server, second.API(t)
	there.awaitServed("v1")

	held, release := make(chan struct{}), make(chan struct{})
	holding := sync.OnceFunc(func() { close(held) })
	hook.Inject(func(http.ResponseWriter, object, object) bool {
		holding()
		<-release
		return true
	})
	made := make(chan *harness.Reply, 1)
	go func() {
		r, err := there.api.Try("POST", there.list("v1"), there.object("v1", "late", `{"host":"a","port":"1"}`))
		if err != nil {
			t.Error(err)
		}
		made <- r
	}()
	<-held
	c.api.Delete(c.crdPath()).Want(200)
	c.api.Eventually(c.crdPath(), func(r *harness.Reply) bool { return r.Code == 404 })
	close(release)
	if r := <-made; r != nil {
		r.Want(404)
	}
	page, err := first.Etcd(t).Get(t.Context(), path.Dir(path.Dir(c.storageKey("late")))+"/", clientv3.WithPrefix())
	if err != nil || page.Count != 0 {
		t.Errorf("%d orphans, %v", page.Count, err)
	}
}

// TestPodsVerifyEveryGateway_RBAC has two gateways with an authority each: what pods find in
// their namespace verifies both.
func TestPodsVerifyEveryGateway_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	first := harness.Start(t, harness.Options{Accounts: true})
	second := harness.Start(t, harness.Options{Accounts: true, EtcdServers: first.EtcdURL})
	verifies := func(text string, g *harness.Gateway) bool {
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM([]byte(text))
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
		r, err := c.Get(g.URL + "/livez")
		if err == nil {
			r.Body.Close()
		}
		return err == nil
	}
	for _, g := range []*harness.Gateway{first, second} {
		g.API(t).Eventually("/api/v1/namespaces/default/configmaps/kube-root-ca.crt", func(r *harness.Reply) bool {
			if r.Code != 200 {
				return false
			}
			text := r.Object()["data"].(map[string]any)["ca.crt"].(string)
			return verifies(text, first) && verifies(text, second)
		})
	}
}

// TestAGatewayThatStopsIsNoEndpoint stops one of two gateways: it is none of the endpoints
// of the API any more while it still answers, long before its lease runs out.
func TestAGatewayThatStopsIsNoEndpoint(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	const at = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
	first := harness.Start(t, harness.Options{Args: []string{"--advertise-address=192.0.2.1"}})
	port := first.URL[strings.LastIndex(first.URL, ":")+1:] // endpoints are of one port
	second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL, Args: []string{
		"--bind-address=127.0.0.2", "--secure-port=" + port, "--advertise-address=192.0.2.2", "--shutdown-delay-duration=15s",
	}})
	has := func(want bool) func(*harness.Reply) bool {
		return func(r *harness.Reply) bool { return r.Contains("192.0.2.1") && r.Contains("192.0.2.2") == want }
	}
	first.API(t).Eventually(at, has(true))
	second.Signal(t, syscall.SIGTERM)
	second.API(t).Eventually(at, has(false)) // which it answers itself
	second.AwaitEnd(t)
	for _, path := range []string{at, "/api/v1/namespaces/default/endpoints/kubernetes"} {
		if r := first.API(t).Get(path).Want(200); !has(false)(r) {
			t.Errorf("%s", r.Body)
		}
	}
}

// TestTwoGatewaysGiveNoNodePortTwice has two gateways make services at once.
func TestTwoGatewaysGiveNoNodePortTwice(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	const services = "/api/v1/namespaces/default/services"
	first := harness.Start(t, harness.Options{})
	second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL})
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[float64]string{}
	for i, api := range []*harness.API{first.API(t), second.API(t)} {
		for n := range 10 {
			all.Go(func() {
				name := fmt.Sprintf("s%d-%d", i, n)
				r := api.Post(services, object{"metadata": object{"name": name}, "spec": object{"type": "NodePort", "ports": []any{object{"port": 80}}}}).Want(201)
				port := r.Object()["spec"].(map[string]any)["ports"].([]any)[0].(map[string]any)["nodePort"].(float64)
				mu.Lock()
				defer mu.Unlock()
				if other := seen[port]; other != "" {
					t.Errorf("%s and %s both have port %v", other, name, port)
				}
				seen[port] = name
			})
		}
	}
	all.Wait()
	page, err := first.Etcd(t).Get(t.Context(), "/registry/claims/", clientv3.WithPrefix())
	if err != nil || page.Count != 0 {
		t.Errorf("%d claims are left, %v", page.Count, err)
	}
}

// TestGatewaysThatClientsTakeForOne lets a client of one gateway in at another,
// as docs/serve.md says: with the same certificate and the same tokens.
func TestGatewaysThatClientsTakeForOne(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte("shared,colleague,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pki := filepath.Join(dir, "first", "pki")
	first := harness.Start(t, harness.Options{DataDir: filepath.Join(dir, "first"), Args: []string{"--token-auth-file", tokens}})
	alike := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL, Args: []string{"--token-auth-file", tokens,
		"--tls-cert-file", filepath.Join(pki, "serving.crt"), "--tls-private-key-file", filepath.Join(pki, "serving.key")}})
	alone := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL})

	text, err := os.ReadFile(first.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "KUBECONFIG="+config, "KUBECACHEDIR="+filepath.Join(dir, "cache"))
	kubectl := harness.KubectlPath(t)
	harness.Shell(t, dir, env, kubectl+" config set-credentials wasmgate-admin --token=shared")
	for _, g := range []*harness.Gateway{first, alike} {
		if out := harness.Shell(t, dir, env, kubectl+" auth whoami --server "+g.URL); !strings.Contains(out, "colleague") {
			t.Errorf("%s knows %s", g.URL, out)
		}
	}
	if out := harness.Shell(t, dir, env, "! "+kubectl+" auth whoami --server "+alone.URL); !strings.Contains(out, "unknown authority") {
		t.Errorf("a gateway with its own certificate: %s", out)
	}
}
