package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wasmgate/wasmgate/storage"
)

// TestCatchUpLargerThanAMessage: what a watch has missed does not fit into one
// message.
func TestCatchUpLargerThanAMessage_WATCH04(t *testing.T) {
	e := start(t, t.TempDir())
	remote := connect(t, e)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const writes = 40
	var first, last int64
	for i := range writes {
		value := bytes.Repeat([]byte{byte('a' + i%26)}, 1<<20)
		rev, err := remote.Create(ctx, fmt.Sprintf("/big/%02d", i), value, 0)
		if err != nil {
			t.Fatal(err)
		}
		if last = rev; first == 0 {
			first = rev
		}
	}
	for name, s := range map[string]*Store{"embedded": e.Store(), "client": remote} {
		watching, stop := context.WithCancel(ctx)
		batches, reason := s.Watch(watching, "/big/", first)
		n, next := 0, first
		for batch := range batches {
			for _, ev := range batch.Events {
				if ev.Revision != next || len(ev.Value) != 1<<20 || ev.Value[0] != byte('a'+n%26) {
					t.Fatalf("%s: event %d is %s at %d with %d bytes, want revision %d", name, n, ev.Key, ev.Revision, len(ev.Value), next)
				}
				n, next = n+1, next+1
			}
			if batch.Revision >= last {
				break
			}
		}
		stop()
		if n != writes {
			t.Errorf("%s: %d of %d events came: %v", name, n, writes, reason())
		}
	}
}

// openStreams counts the watch streams that all servers of this process hold.
func openStreams(t *testing.T) float64 {
	t.Helper()
	return counted(t, "etcd_debugging_mvcc_watch_stream_total")
}

// counted is what all servers of this process count under a name.
func counted(t *testing.T, name string) (n float64) {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				n += m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
			return n
		}
	}
	t.Fatalf("the servers do not count %s", name)
	return 0
}

// TestProgressRequestsLeaveNoStreams asks for progress while watches come and
// go: a request that meets an ending watch must not open a stream that nobody
// closes.
func TestProgressRequestsLeaveNoStreams(t *testing.T) {
	e := start(t, t.TempDir())
	remote := connect(t, e)
	for name, s := range map[string]*Store{"embedded": e.Store(), "client": remote} {
		before := openStreams(t)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		var asking, watching sync.WaitGroup
		asked := 0
		stop := make(chan struct{})
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.RequestProgress(ctx); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				asked++
			}
		})
		for range 8 {
			watching.Go(func() {
				for range 15 {
					one, end := context.WithCancel(ctx)
					batches, _ := s.Watch(one, "/w/", 1)
					<-batches // progress
					end()
					for range batches {
					}
				}
			})
		}
		watching.Wait()
		close(stop)
		asking.Wait()
		// The server ends streams in its own time and tells nobody.
		for again := time.NewTicker(10 * time.Millisecond); openStreams(t) > before && ctx.Err() == nil; <-again.C {
		}
		if now := openStreams(t); now > before {
			t.Errorf("%s: %v streams without a watch stay open after %d requests", name, now-before, asked)
		}
		cancel()
	}
}

func TestErrorKinds(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want storage.Kind
	}{
		{rpctypes.ErrCompacted, storage.Compacted},
		{rpctypes.ErrFutureRev, storage.FutureRevision},
		{rpctypes.ErrRequestTooLarge, storage.TooLarge},
		{status.Error(codes.ResourceExhausted, "any words of the transport's"), storage.TooLarge},
		{fmt.Errorf("wrapped: %w", status.Error(codes.ResourceExhausted, "too much")), storage.TooLarge},
		{rpctypes.ErrGRPCNoSpace, storage.Full},
		{rpctypes.ErrNoSpace, storage.Full},
		{rpctypes.ErrGRPCTooManyOps, storage.TooMany},
		{rpctypes.ErrTooManyOps, storage.TooMany},
		{rpctypes.ErrGRPCRequestTooManyRequests, storage.Unavailable},
		{rpctypes.ErrTooManyRequests, storage.Unavailable},
		{status.Error(codes.Unavailable, "away"), storage.Unavailable},
		{context.DeadlineExceeded, storage.Unavailable},
		{errWatchClosed, storage.Unavailable},
	} {
		if err := failed(t.Context(), tc.err, "k", 7); storage.KindOf(err) != tc.want {
			t.Errorf("%v: %v, want %v", tc.err, storage.KindOf(err), tc.want)
		}
	}
	if failed(t.Context(), nil, "k", 7) != nil {
		t.Error("no error became one")
	}
}

// closed is a client whose watches end at once, and do not say why.
type closed struct{ clientv3.Watcher }

func (closed) Watch(context.Context, string, ...clientv3.OpOption) clientv3.WatchChan {
	c := make(chan clientv3.WatchResponse)
	close(c)
	return c
}

func (closed) Close() error { return nil }

// A watch that has ended says why, whoever ended it.
func TestWatchesThatEndSayWhy(t *testing.T) {
	s := &watches{open: map[clientv3.Watcher]struct{}{}, newWatcher: func() clientv3.Watcher { return closed{} }}
	left, leave := context.WithCancel(t.Context())
	leave()
	for want, ctx := range map[error]context.Context{errWatchClosed: t.Context(), context.Canceled: left} {
		batches, reason := s.Watch(ctx, "/w/", 1)
		for range batches {
			t.Error("a batch came")
		}
		if err := reason(); storage.KindOf(err) != storage.Unavailable || !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
