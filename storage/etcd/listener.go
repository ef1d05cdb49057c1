package etcd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"syscall"

	"github.com/rs/zerolog"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// clientListener serves the embedded server's client API to other processes.
type clientListener struct {
	url    string
	server *grpc.Server
	done   chan struct{}
}

// listenClients serves keys, watches, leases and maintenance, and leaves out
// membership: a second member would end what local reads rely on.
func listenClients(s *etcdserver.EtcdServer, address string, log zerolog.Logger) (*clientListener, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("etcd: client URL: %w", err)
	}
	var ln net.Listener
	switch u.Scheme {
	case "http":
		ln, err = net.Listen("tcp", u.Host)
	case "unix":
		ln, err = privateSocket(u.Host + u.Path)
	default:
		return nil, fmt.Errorf("etcd: client URL %q: scheme must be http or unix", address)
	}
	if err != nil {
		return nil, fmt.Errorf("etcd: client listener: %w", err)
	}
	if u.Scheme == "http" {
		u.Host = ln.Addr().String()
	}
	g := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(math.MaxInt32))
	pb.RegisterKVServer(g, v3rpc.NewQuotaKVServer(s))
	pb.RegisterWatchServer(g, v3rpc.NewWatchServer(s))
	pb.RegisterLeaseServer(g, v3rpc.NewQuotaLeaseServer(s))
	pb.RegisterMaintenanceServer(g, maintenance{v3rpc.NewMaintenanceServer(s, nil), s})
	l := &clientListener{url: u.String(), server: g, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		if err := g.Serve(ln); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			log.Error().Err(err).Msg("etcd client listener stopped")
		}
	}()
	return l, nil
}

// privateSocket listens where only the user of this process can connect.
func privateSocket(path string) (net.Listener, error) {
	ln, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && abandoned(path) {
		if err = os.Remove(path); err == nil {
			ln, err = net.Listen("unix", path)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// abandoned reports whether path is a socket that nobody listens at any more, as a
// process leaves it that was killed.
func abandoned(path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// maintenance is etcd's own, but for what tells a health service, which there is
// none of here.
type maintenance struct {
	pb.MaintenanceServer
	server *etcdserver.EtcdServer
}

// Defragment gives back space that is not in use.
func (m maintenance) Defragment(context.Context, *pb.DefragmentRequest) (*pb.DefragmentResponse, error) {
	if err := m.server.Defragment(); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &pb.DefragmentResponse{}, nil
}

func (l *clientListener) close() {
	l.server.Stop()
	<-l.done
}
