package clients

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

const namespacePath = "/api/v1/namespaces"

// server is what one client is tried on. gateway is nil when the environment
// named the server.
type server struct {
	*harness.Server
	gateway          *harness.Gateway
	namespace, group string
}

// newServer starts a gateway of the test's own, unless the environment names a
// server, and makes the namespace that the program works in.
func newServer(t *testing.T) *server {
	t.Helper()
	var s server
	if os.Getenv("WASMGATE_TEST_TARGET") != "" {
		s.Server = harness.Shared(t)
	} else {
		s.gateway = harness.Start(t, harness.Options{})
		s.Server = &s.gateway.Server
	}
	var b [4]byte
	_, _ = rand.Read(b[:])
	id := hex.EncodeToString(b[:])
	s.namespace, s.group = "clients-"+id, "g"+id+".example.com"
	api := s.API(t)
	api.Post(namespacePath, harness.Object{"metadata": map[string]any{"name": s.namespace}, "apiVersion": "v1", "kind": "Namespace"}).Want(201)
	t.Cleanup(func() { _, _ = api.Try("DELETE", namespacePath+"/"+s.namespace, nil) })
	return &s
}

// grant does what a program asks for. "lose history" makes every revision
// before the current one unknown: etcd compacts it, and a restart empties the
// gateway's own memory.
func (s *server) grant(t *testing.T, what string) bool {
	t.Helper()
	if what != "lose history" {
		t.Fatalf("a program asks for %q", what)
	}
	if s.gateway == nil {
		return false
	}
	s.Compact(t)
	s.gateway.Terminate(t)
	s.gateway.Restart(t)
	return true
}

func TestMain(m *testing.M) { harness.Main(m) }

// TestJavaScript_CLI01 drives a server with the npm package
// @kubernetes/client-node, at the version of the lock file.
func TestJavaScript_CLI01(t *testing.T) {
	t.Parallel()
	const install = "(cd test/e2e/clients/js && npm ci)"
	node, err := exec.LookPath("node")
	if err != nil {
		absent(t, "Node.js", "apt-get install nodejs npm")
	}
	if _, err := os.Stat(filepath.Join("js", "node_modules", "@kubernetes", "client-node")); err != nil {
		absent(t, "the JavaScript client", install)
	}
	s := newServer(t)
	program{cmd: command(t, s.Kubeconfig, node, filepath.Join("js", "main.mjs"), s.namespace, s.group), grant: s.grant}.run(t)
}

// TestPython_CLI01 drives a server with Debian's package python3-kubernetes,
// or with the client of any other python3 that has it.
func TestPython_CLI01(t *testing.T) {
	t.Parallel()
	python := pythonWithClient()
	if python == "" {
		absent(t, "the Python client", "apt-get install python3-kubernetes")
	}
	s := newServer(t)
	program{cmd: command(t, s.Kubeconfig, python, filepath.Join("python", "main.py"), s.namespace, s.group), grant: s.grant}.run(t)
}

// pythonWithClient finds a Python that has the client: Debian installs it for
// its own Python, which need not be the first of the search path.
func pythonWithClient() string {
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(name, "-c", "import kubernetes").Run() == nil {
			return name
		}
	}
	return ""
}
