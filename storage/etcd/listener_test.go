package etcd

import (
	"os"
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// operate is etcd's own client, as etcdctl has it.
func operate(t *testing.T, e *Embedded) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{e.ClientURL()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Whoever looks at the embedded server with etcd's tools may defragment it.
func TestDefragmentOverTheListener(t *testing.T) {
	e := start(t, filepath.Join(t.TempDir(), "data"))
	operator := operate(t, e)
	if _, err := operator.Put(t.Context(), "/a", "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Defragment(t.Context(), e.ClientURL()); err != nil {
		t.Fatal(err)
	}
	if kv, err := e.Store().Get(t.Context(), "/a"); err != nil || string(kv.Value) != "b" {
		t.Errorf("%s, %v", kv.Value, err)
	}
}

// Only the user of this process connects to a socket in the file system.
func TestSocketIsPrivate(t *testing.T) {
	dir, err := os.MkdirTemp("", "etcd") // short, as names of sockets are
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ln, err := privateSocket(filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	info, err := os.Stat(filepath.Join(dir, "s"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
