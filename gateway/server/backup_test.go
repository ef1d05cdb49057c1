package server

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// A copy of the data directory of a gateway that was stopped is a backup: what was
// written, contents of modules, credentials and keys are there. In etcd all of it is
// below two prefixes, which docs/serve.md names.
func TestACopyOfTheDataDirectoryIsABackup(t *testing.T) {
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	o.EmbeddedEtcdClientURL = "http://127.0.0.1:" + harness.Port(t)
	g := start(t, o)
	const modules, maps = "/apis/wasmgate.dev/v1/wasmmodules", "/api/v1/namespaces/default/configmaps"
	want := func(g *instance, token, method, path, body string, code int, headers ...string) string {
		t.Helper()
		got := g.as(token, method, path, body, headers...)
		if got.code != code {
			t.Fatalf("%s %s: %d %s", method, path, got.code, got.body)
		}
		return got.body
	}
	content := string(plugintest.Echo("{}").Bytes())
	want(g, g.token, "POST", maps, configMap, 201)
	want(g, g.token, "POST", modules, `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"m"},"spec":{"source":{"upload":{}}}}`, 201)
	want(g, g.token, "PUT", modules+"/m/content", content, 200, "Content-Type: application/wasm")

	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{o.EmbeddedEtcdClientURL}})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	all, err := etcd.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range all.Kvs {
		if key := string(kv.Key); !strings.HasPrefix(key, "/registry/") && !strings.HasPrefix(key, "/wasmgate/") {
			t.Errorf("%s is below neither prefix", key)
		}
	}
	if err := g.end(); err != nil {
		t.Fatal(err)
	}

	restored := servingIn(filepath.Join(t.TempDir(), "restored"))
	copied(t, o.DataDir, restored.DataDir)
	again := start(t, restored)
	want(again, g.token, "GET", maps+"/kept", "", 200)
	if got := want(again, g.token, "GET", modules+"/m/content", "", 200); got != content {
		t.Errorf("the content has %d bytes, and had %d", len(got), len(content))
	}
}

// copied copies a folder as cp -a does.
func copied(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(target, info.Mode().Perm())
		case !info.Mode().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
}
