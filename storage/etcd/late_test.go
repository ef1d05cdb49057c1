package etcd

import (
	"context"
	"net"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"google.golang.org/grpc"

	"github.com/wasmgate/wasmgate/storage"
)

// slowPath is a way to a server on which one transaction is held up until it
// is released, whoever waits for it.
type slowPath struct {
	pb.KVServer
	hold     chan struct{} // one value: hold up the next transaction
	held     chan struct{} // receives once it is held
	release  chan struct{} // closed to let it go on
	finished chan error    // receives what became of it
}

func (p *slowPath) Txn(ctx context.Context, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	select {
	case <-p.hold:
	default:
		return p.KVServer.Txn(ctx, r)
	}
	p.held <- struct{}{}
	<-p.release
	resp, err := p.KVServer.Txn(context.WithoutCancel(ctx), r)
	p.finished <- err
	return resp, err
}

// overSlowPath returns a store that reaches e over p.
func overSlowPath(t *testing.T, e *Embedded) (*Store, *slowPath) {
	t.Helper()
	p := &slowPath{
		KVServer: v3rpc.NewQuotaKVServer(e.server), hold: make(chan struct{}, 1),
		held: make(chan struct{}, 1), release: make(chan struct{}), finished: make(chan error, 1),
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	pb.RegisterKVServer(g, p)
	pb.RegisterMaintenanceServer(g, v3rpc.NewMaintenanceServer(e.server, nil))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := g.Serve(ln); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { g.Stop(); <-done })
	s, err := Open(t.Context(), Config{Endpoints: []string{ln.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, p
}

// TestWriteHeldUpPastItsTimeout is the story of a create at an old storage
// version: its caller gave up, the definition changed, everything was
// rewritten and checked, and then the transaction arrives. Only a write that
// depends on the definition does nothing then.
func TestWriteHeldUpPastItsTimeout_CRD32(t *testing.T) {
	for name, guarded := range map[string]bool{"depends on the definition": true, "depends on nothing": false} {
		t.Run(name, func(t *testing.T) {
			e := start(t, t.TempDir())
			slow, path := overSlowPath(t, e)
			definition, err := slow.Create(t.Context(), "/definition", []byte("stored at v1"), 0)
			if err != nil {
				t.Fatal(err)
			}
			var w storage.Writer = slow
			if guarded {
				w = slow.While("/definition", definition)
			}

			path.hold <- struct{}{}
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-path.held; cancel() }()
			if _, err := w.Create(ctx, "/o/late", []byte("v1"), 0); storage.KindOf(err) != storage.Unavailable {
				t.Fatalf("a create that was held up: %v", err)
			}
			if _, err := e.Store().Update(t.Context(), "/definition", []byte("stored at v2"), definition, 0); err != nil {
				t.Fatal(err)
			}
			if page, err := e.Store().Range(t.Context(), storage.Range{Prefix: "/o/"}); err != nil || len(page.KVs) != 0 {
				t.Fatalf("the pass finds %v, %v", page.KVs, err)
			}
			close(path.release)
			select {
			case err := <-path.finished:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("the transaction never arrived")
			}
			_, err = e.Store().Get(t.Context(), "/o/late")
			if guarded && storage.KindOf(err) != storage.NotFound {
				t.Errorf("the late create came through: %v", err)
			}
			if !guarded && err != nil {
				t.Errorf("the transaction was not late at all: %v", err)
			}
		})
	}
}
