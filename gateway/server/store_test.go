package server

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/test/harness"
)

// A wrong URL does not make two control planes of one store by mistake: what a
// kube-apiserver says of itself there, and takes back when it ends, is heeded.
func TestRun_LeavesTheStoreOfAKubeAPIServerAlone(t *testing.T) {
	url := "http://127.0.0.1:" + harness.Port(t)
	first := servingIn(filepath.Join(t.TempDir(), "first"))
	first.EmbeddedEtcdClientURL = url
	start(t, first)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, key := range []string{"/registry/masterleases/192.0.2.1", "/registry/peerserverleases/one"} {
		if _, err := client.Put(t.Context(), key, "it is alive"); err != nil {
			t.Fatal(err)
		}
		o := servingIn(filepath.Join(t.TempDir(), "second"))
		o.EtcdServers = []string{url}
		err := Run(t.Context(), o, zerolog.Nop(), func(options.Started) { t.Error("it serves") })
		if err == nil || !strings.Contains(err.Error(), "a kube-apiserver serves this store below /registry: its lease is "+key) ||
			!strings.Contains(err.Error(), "--share-with-kube-apiserver") {
			t.Errorf("%s: %v", key, err)
		}
		if key == "/registry/masterleases/192.0.2.1" {
			runsBriefly(t, o, func(o *options.Serve) { o.ShareWithKubeAPIServer = true })
			runsBriefly(t, o, func(o *options.Serve) { o.EtcdPrefix = "/elsewhere" })
		}
		if _, err := client.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	o := servingIn(filepath.Join(t.TempDir(), "third"))
	o.EtcdServers = []string{url}
	runsBriefly(t, o, func(*options.Serve) {})
}

// runsBriefly runs a gateway, with a change of its options, until it serves.
func runsBriefly(t *testing.T, o options.Serve, change func(*options.Serve)) {
	t.Helper()
	o.DataDir = filepath.Join(t.TempDir(), "data")
	change(&o)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	served := false
	err := Run(ctx, o, zerolog.Nop(), func(options.Started) { served = true; stop() })
	if err != nil || !served {
		t.Errorf("served %v: %v", served, err)
	}
}
