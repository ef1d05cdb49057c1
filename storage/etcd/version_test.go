package etcd

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"google.golang.org/grpc"

	"github.com/wasmgate/wasmgate/storage"
)

func TestOrdersProgress(t *testing.T) {
	for version, want := range map[string]bool{
		"3.3.27": false, "3.4.0": false, "3.4.24": false, "3.4.25": true, "3.4.36": true,
		"3.5.0": false, "3.5.7": false, "3.5.7-rc.1": false, "3.5.8": true, "3.5.21": true,
		"3.6.0": true, "3.6.0-alpha.0": true, "3.7.3": true, "4.0.0": true, "2.3.8": false,
		"": true, "3.5": true, "unknown": true, "3.x.1": true,
	} {
		if got := ordersProgress(version); got != want {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
}

// member is a server that says it has a version, or that it cannot tell.
type member struct {
	pb.KVServer
	pb.UnimplementedMaintenanceServer
	version string
}

func (m *member) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	if m.version == "" {
		return nil, errors.New("cannot tell")
	}
	return &pb.StatusResponse{Header: &pb.ResponseHeader{}, Version: m.version}, nil
}

func serveMember(t *testing.T, e *Embedded, version string, as func(*member) pb.KVServer) (endpoint string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &member{KVServer: v3rpc.NewQuotaKVServer(e.server), version: version}
	g := grpc.NewServer()
	pb.RegisterKVServer(g, as(m))
	pb.RegisterMaintenanceServer(g, m)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := g.Serve(ln); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { g.Stop(); <-done })
	return "http://" + ln.Addr().String()
}

// The size is that of the database.
func TestSize(t *testing.T) {
	e := startAlone(t)
	if size, err := e.Store().Size(t.Context()); err != nil || size <= 0 {
		t.Error(size, err)
	}
	// One that takes packets and says nothing holds nothing up.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + silent.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(client, Config{}, nil)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if size, err := s.Size(ctx); err == nil {
		t.Errorf("%d of who says nothing", size)
	}
}

func TestOldMembersAreRefused(t *testing.T) {
	e := startAlone(t)
	whole := func(m *member) pb.KVServer { return m }
	young, old, silent := serveMember(t, e, "3.5.8", whole), serveMember(t, e, "3.5.7", whole), serveMember(t, e, "", whole)
	for _, tc := range []struct {
		name      string
		endpoints []string
		old, fail bool
	}{
		{"young", []string{young}, false, false},
		{"old", []string{old}, true, true},
		{"one of two is old", []string{young, old}, true, true},
		{"one of two does not tell", []string{silent, young}, false, false},
		{"none tells", []string{silent}, false, true},
	} {
		s, err := Open(t.Context(), Config{Endpoints: tc.endpoints})
		var refused *OldServer
		if errors.As(err, &refused) != tc.old || (err != nil) != tc.fail {
			t.Errorf("%s: %v", tc.name, err)
		}
		if refused != nil && (refused.Endpoint != old || !strings.Contains(err.Error(), "3.5.7")) {
			t.Errorf("%s: refused with %v", tc.name, err)
		}
		if tc.fail && !tc.old && storage.KindOf(err) != storage.Unavailable {
			t.Errorf("%s: %v", tc.name, err)
		}
		if s != nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
