package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// storedContents counts the keys that contents of modules have in etcd.
func storedContents(t testing.TB, g *harness.Gateway) int64 {
	t.Helper()
	r, err := g.Etcd(t).Get(t.Context(), "/wasmgate/registry/blobs/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return r.Count
}

// TestHostileModules uploads modules that are made to harm: each is refused
// with its reason and not stored, or contained, and neither they nor a restart
// with them end the gateway.
func TestHostileModules(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	pid := g.PID()
	api := g.API(t)
	newModule(t, api, "hostile")

	t.Run("WP-01 bombs are refused with the place and the limit, and not stored", func(t *testing.T) {
		for _, b := range plugintest.Bombs() {
			content(api, "hostile", b.Module).WantStatus(422, "Invalid", b.Says)
		}
		if n := storedContents(t, g); n != 0 {
			t.Errorf("%d keys of contents are stored", n)
		}
	})
	t.Run("WP-01 truncated and mutated real modules are refused or contained", func(t *testing.T) {
		module := harness.Module(t, crontabModule)
		random := rand.New(rand.NewPCG(3, 4))
		for n := range 12 {
			content(api, "hostile", module[:random.IntN(len(module))]).WantStatus(422, "Invalid", "content: Invalid value")
			broken := bytes.Clone(module)
			for range 1 << n {
				broken[random.IntN(len(broken)/2)] ^= 1 << random.IntN(8)
			}
			content(api, "hostile", broken).Want(200, 422)
		}
	})
	whole := t // these modules stay, for the restart
	t.Run("WP-01 what is accepted and fails later is contained", func(t *testing.T) {
		echo := plugintest.Echo("")
		for n, bad := range []plugintest.Guest{
			echo.With("_initialize", plugintest.Func{Code: plugintest.Forever}),
			echo.With("wasmgate_convert", plugintest.Hook(0x41, 0)),
			echo.With("wasmgate_alloc", plugintest.Func{Params: []byte{plugintest.I32}, Results: []byte{plugintest.I32}, Code: plugintest.ConstI32(-1)}),
		} {
			name := fmt.Sprintf("contained-%d", n)
			upload(whole, api, name, bad.Bytes(), "timeout", "200ms")
			awaitRefused(api, name)
		}
	})
	api.Get("/readyz").Want(200)
	if g.PID() != pid {
		t.Fatal("the gateway is another process")
	}
	g.Terminate(t)
	g.Restart(t)
	api.Get("/readyz").Want(200)
	awaitRefused(api, "contained-1")
	pushModule(t, api, "good-"+unique(), harness.Module(t, crontabModule))
}
