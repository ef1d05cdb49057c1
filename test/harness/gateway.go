package harness

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// startTimeout is how long a gateway may take to become ready, and to end
// after SIGTERM, on a machine that is busy with other tests.
const startTimeout = 60 * time.Second

// Options say how a gateway is started. The zero value is a gateway with
// embedded etcd in a temporary folder.
type Options struct {
	// DataDir is the absolute path of the data folder, in a folder that exists;
	// empty means a temporary one.
	DataDir string
	// EtcdServers is the client URL of an external etcd; empty means embedded.
	EtcdServers string
	// Args are more command line flags.
	Args []string
	// Accounts has every namespace get an account and a ConfigMap, as by default. Without
	// it nothing is there that a test did not make, which is how the kube-apiservers run
	// that recordings are of: alone.
	Accounts bool
}

// alone are the flags of a gateway that makes nothing in namespaces.
func (o Options) alone() (args []string) {
	if o.Accounts {
		return nil
	}
	if !slices.ContainsFunc(o.Args, func(arg string) bool { return strings.HasPrefix(arg, "--controllers") }) {
		args = append(args, "--controllers=*,-serviceaccount-controller,-root-ca-certificate-publisher-controller,-certificatesigningrequest-cleaner-controller")
	}
	return args
}

// Gateway is a gateway that runs as a process of its own.
type Gateway struct {
	Server
	// Binary is the program that runs.
	Binary string

	opts Options
	port string
	proc *process
	logs *os.File
}

// Start starts a gateway and waits until it is ready. It is stopped, and its
// log shown if the test failed, when the test ends.
func Start(t testing.TB, o Options) *Gateway {
	t.Helper()
	if o.DataDir == "" {
		o.DataDir = t.TempDir()
	}
	g, err := launch(Binary(t), t.TempDir(), o)
	if g != nil {
		t.Cleanup(func() {
			g.stop()
			if t.Failed() {
				t.Logf("the gateway's log ends:\n%s", g.Log())
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// launch starts binary with its files under dir. When it fails the gateway, if
// not nil, still has to be stopped.
func launch(binary, dir string, o Options) (*Gateway, error) {
	logs, err := os.Create(filepath.Join(dir, "gateway.log"))
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	g := &Gateway{Binary: binary, opts: o, port: port, logs: logs}
	g.Kubeconfig = filepath.Join(dir, "kubeconfig")
	g.EtcdURL = o.EtcdServers
	if g.EtcdURL == "" {
		if g.EtcdURL, err = freeURL(); err != nil {
			return nil, err
		}
	}
	return g, g.start()
}

// freeURL names a port for a server.
func freeURL() (string, error) {
	port, err := freePort()
	return "http://127.0.0.1:" + port, err
}

// command works where the data folder is, and names that by a relative path, as
// the default is one: a gateway that does not bear that fails tests.
func (g *Gateway) command() *exec.Cmd {
	dir, data := filepath.Split(g.opts.DataDir)
	cmd := exec.Command(g.Binary, g.args(data)...)
	cmd.Dir = dir
	return cmd
}

func (g *Gateway) args(dataDir string) []string {
	args := []string{"serve", "--bind-address", "127.0.0.1", "--secure-port", g.port,
		"--data-dir", dataDir, "--write-kubeconfig", g.Kubeconfig}
	if g.opts.EtcdServers != "" {
		args = append(args, "--etcd-servers", g.opts.EtcdServers)
	} else {
		args = append(args, "--embedded-etcd-client-url", g.EtcdURL)
	}
	return append(append(args, g.opts.alone()...), g.opts.Args...)
}

// start starts the process and waits until it is ready.
func (g *Gateway) start() error {
	p, err := startProcess(g.command(), g.logs)
	if err != nil {
		return err
	}
	g.proc = p
	return p.await(startTimeout, "ready", g.ready)
}

// ready tells whether the gateway answers; the first time it also learns where
// it listens, from the kubeconfig that the gateway writes.
func (g *Gateway) ready() (bool, error) {
	if g.URL == "" {
		c, err := clientcmd.LoadFromFile(g.Kubeconfig)
		if err != nil || c.Contexts[c.CurrentContext] == nil {
			return false, err
		}
		ctx := c.Contexts[c.CurrentContext]
		cluster, user := c.Clusters[ctx.Cluster], c.AuthInfos[ctx.AuthInfo]
		if cluster == nil || user == nil {
			return false, fmt.Errorf("incomplete kubeconfig %s", g.Kubeconfig)
		}
		g.URL, g.CA, g.Token = cluster.Server, cluster.CertificateAuthorityData, user.Token
		g.prepare()
	}
	resp, err := g.askReady()
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK, fmt.Errorf("/readyz: %s", resp.Status)
}

// askReady asks as the administrator: --authorization-mode may leave nothing to
// who is not known.
func (g *Gateway) askReady() (*http.Response, error) {
	req, err := http.NewRequest(http.MethodGet, g.URL+"/readyz", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+g.Token)
	return g.client.Do(req)
}

// PID is the process id.
func (g *Gateway) PID() int { return g.proc.cmd.Process.Pid }

// Kill ends the process at once (SIGKILL) and waits until it is gone.
func (g *Gateway) Kill(t testing.TB) {
	t.Helper()
	if err := g.proc.end(syscall.SIGKILL, startTimeout); err != nil {
		t.Fatal(err)
	}
}

// Terminate asks the process to shut down (SIGTERM) and waits until it is
// gone. A process that does not end by itself, or ends with an error, fails
// the test.
func (g *Gateway) Terminate(t testing.TB) {
	t.Helper()
	g.Signal(t, syscall.SIGTERM)
	g.AwaitEnd(t)
}

// AwaitEnd waits until a process that was asked to shut down is gone. It fails
// like Terminate.
func (g *Gateway) AwaitEnd(t testing.TB) {
	t.Helper()
	if err := g.proc.awaitEnd(startTimeout); err != nil {
		t.Fatalf("%v\n%s", err, g.Log())
	}
	if code := g.proc.exitCode(); code != 0 {
		t.Fatalf("the gateway ended with exit code %d:\n%s", code, g.Log())
	}
}

// Signal sends a signal and does not wait.
func (g *Gateway) Signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := g.proc.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// Restart starts a gateway that ended, on the same data and the same port, and
// waits until it is ready.
func (g *Gateway) Restart(t testing.TB) {
	t.Helper()
	select {
	case <-g.proc.done:
	default: // which would answer in place of the new one
		t.Fatal("restart of a gateway that runs: end it first")
	}
	g.client.CloseIdleConnections()
	if err := g.start(); err != nil {
		t.Fatalf("restart: %v\n%s", err, g.Log())
	}
}

// Log returns the end of what the gateway printed.
func (g *Gateway) Log() string {
	const most = 32 << 10
	b, err := os.ReadFile(g.logs.Name())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-most):])
}

func (g *Gateway) stop() {
	if g.proc != nil {
		_ = g.proc.end(syscall.SIGKILL, startTimeout)
	}
	g.logs.Close()
}

// CLI runs the wasmgate program as a client of the gateway and returns what it
// printed. It fails the test when the program fails.
func (g *Gateway) CLI(t testing.TB, args ...string) string {
	t.Helper()
	out, err := g.TryCLI(t, args...)
	if err != nil {
		t.Fatalf("wasmgate %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// TryCLI runs a command of wasmgate against the gateway, and returns all that it
// prints and how it ended.
func (g *Gateway) TryCLI(t testing.TB, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), g.Binary, append(args, "--kubeconfig", g.Kubeconfig)...).CombinedOutput()
	return string(out), err
}
