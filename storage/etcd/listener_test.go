package etcd

import (
	"net"
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

// What a process left that was killed is in nobody's way; a socket that somebody
// listens at, and any other file, is.
func TestASocketThatWasLeftIsTakenOver(t *testing.T) {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	first, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if ln, err := privateSocket(path); err == nil {
		_ = ln.Close()
		t.Error("a socket that is in use was taken")
	}
	first.SetUnlinkOnClose(false)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	ln, err := privateSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := privateSocket(path); err == nil {
		t.Error("a file was taken for a socket")
	}
}
