package server

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/test/harness"
)

// Without etcd the log names the cause within seconds, reads say that they may be
// tried again, and the log tells when it is over.
func TestRun_SaysThatEtcdIsGone(t *testing.T) {
	first := servingIn(filepath.Join(t.TempDir(), "first"))
	first.EmbeddedEtcdClientURL = "http://127.0.0.1:" + harness.Port(t) // which is still its own when it comes back
	etcd := start(t, first)
	o := servingIn(filepath.Join(t.TempDir(), "second"))
	o.EtcdServers = []string{first.EmbeddedEtcdClientURL}
	said, ended := make(lines, 10_000), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() { ended <- Run(ctx, o, zerolog.New(said), func(options.Started) { close(served) }) }()
	await := func(part string) {
		t.Helper()
		for late := time.After(patience); ; {
			select {
			case line := <-said:
				if strings.Contains(line, part) {
					return
				}
			case <-late:
				t.Fatalf("the log does not say that %s", part)
			}
		}
	}
	select {
	case <-served:
	case <-time.After(patience):
		t.Fatal("it does not serve")
	}
	etcd.stop()
	if err := <-etcd.ended; err != nil {
		t.Fatal(err)
	}
	await("etcd does not answer")
	start(t, first)
	await("etcd answers again")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
