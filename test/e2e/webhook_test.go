package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/wasmgate/wasmgate/test/harness"
)

// rulesFolder has rules.
func rulesFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	rules, err := os.ReadFile(filepath.Join(root, "examples/crontab/rules.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "rules.yaml"), rules, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// webhookLog is what a process prints, while it does.
type webhookLog struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{} // closed with the next line, for who waits for it
}

func (p *webhookLog) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wrote != nil {
		close(p.wrote)
		p.wrote = nil
	}
	return p.text.Write(data)
}

// sofar is all that was printed, and what is closed when there is more.
func (p *webhookLog) sofar() (string, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wrote == nil {
		p.wrote = make(chan struct{})
	}
	return p.text.String(), p.wrote
}

// await waits until it has printed a text, and returns all.
func (p *webhookLog) await(t *testing.T, text string) string {
	t.Helper()
	patience := time.After(time.Minute)
	for {
		all, more := p.sofar()
		if strings.Contains(all, text) {
			return all
		}
		select {
		case <-more:
		case <-patience:
			t.Fatalf("%q was not printed:\n%s", text, all)
		}
	}
}

// TestBundlesOfOthersStay: only caBundles of webhooks that are the server are written, and
// none that somebody looks after.
func TestBundlesOfOthersStay(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, harness.Options{})
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, g.Binary, "webhook", rulesFolder(t), "--secure-port=0", "--host=hooks.team.svc", "--inject=app=hooks", "--data-dir", filepath.Join(t.TempDir(), "data"), "--kubeconfig", g.Kubeconfig)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var log webhookLog
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		if err := cmd.Wait(); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}()
	log.await(t, "/convert/crontabs")
	api := g.API(t)
	applied := func(name, label, bundle string) {
		body := fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":%q,"labels":{"app":%q}},"webhooks":[
			{"name":"other.example.com","clientConfig":{"service":{"namespace":"team","name":"other","path":"/admit/a"}},"sideEffects":"None","admissionReviewVersions":["v1"]},
			{"name":"path.example.com","clientConfig":{"service":{"namespace":"team","name":"hooks","path":"/other"}},"sideEffects":"None","admissionReviewVersions":["v1"]},
			{"name":"ours.example.com","clientConfig":{"service":{"namespace":"team","name":"hooks","path":"/admit/a"}%s},"sideEffects":"None","admissionReviewVersions":["v1"]}]}`, name, label, bundle)
		api.Do("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"+name+"?fieldManager=team&force=true", body, "Content-Type", "application/apply-patch+yaml").Want(200, 201)
	}
	bundles := func(name string) (all []string) {
		var o struct {
			Webhooks []struct{ ClientConfig struct{ CABundle string } }
		}
		if err := json.Unmarshal(api.Get("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"+name).Body, &o); err != nil {
			t.Fatal(err)
		}
		for _, w := range o.Webhooks {
			all = append(all, w.ClientConfig.CABundle)
		}
		return all
	}
	theirs := clusterAuthority(t, g)
	applied("theirs", "hooks", `,"caBundle":"`+theirs+`"`)
	log.await(t, "is team's")
	if got := bundles("theirs"); got[2] != theirs {
		t.Errorf("a bundle that is applied is replaced: %q", got)
	}
	applied("unselected", "other", "")
	applied("ours", "hooks", "")
	log.await(t, "caBundle written")
	if got := bundles("ours"); got[0] != "" || got[1] != "" || got[2] == "" || got[2] == theirs {
		t.Errorf("the bundles are %q", got)
	}
	// Who applied the rest applies it again, and disturbs nobody.
	written := bundles("ours")[2]
	applied("ours", "hooks", "")
	if got := bundles("ours"); got[2] != written {
		t.Errorf("the bundle was %q, and is %q", written, got[2])
	}
	if got := bundles("unselected"); strings.Join(got, "") != "" {
		t.Errorf("what is not selected has %q", got)
	}
}

// clusterAuthority is a bundle that is not the server's.
func clusterAuthority(t *testing.T, g *harness.Gateway) string {
	t.Helper()
	cfg, err := clientcmd.LoadFromFile(g.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cfg.Clusters {
		if len(c.CertificateAuthorityData) > 0 {
			return base64.StdEncoding.EncodeToString(c.CertificateAuthorityData)
		}
	}
	t.Fatal("the kubeconfig has no authority")
	return ""
}
