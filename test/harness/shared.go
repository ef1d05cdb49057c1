package harness

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is the one server of a test package.
var shared struct {
	once    sync.Once
	dir     string
	server  *Server
	gateway *Gateway
	err     error
}

// Main runs the tests of a package that uses [Shared], and stops the shared
// gateway after them. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if g := shared.gateway; g != nil {
		if code != 0 {
			fmt.Fprintf(os.Stderr, "the shared gateway's log ends:\n%s\n", g.Log())
		}
		g.stop()
	}
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// Shared returns the server that all tests of the package share: a gateway
// that the first call starts, or the server that the environment names. Tests
// keep apart by using their own namespaces and API groups.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp("", "wasmgate-e2e"); shared.err != nil {
			return
		}
		if shared.server, shared.err = external(shared.dir); shared.server != nil || shared.err != nil {
			return
		}
		var binary string
		if binary, shared.err = wasmgate.get(); shared.err != nil {
			return
		}
		shared.gateway, shared.err = launch(binary, shared.dir, Options{DataDir: shared.dir + "/data"})
		if shared.gateway != nil {
			shared.server = &shared.gateway.Server
		}
	})
	if shared.err != nil {
		t.Fatalf("shared server: %v", shared.err)
	}
	return shared.server
}

// SkipExternal skips a test that needs what only a gateway started by the
// tests has: Wasm modules, or a process that can be killed.
func SkipExternal(t testing.TB) {
	t.Helper()
	if os.Getenv("WASMGATE_TEST_TARGET") != "" {
		t.Skip("needs a gateway that the tests start themselves")
	}
}
