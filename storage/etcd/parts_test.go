package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

func TestRevisionShare_RV05(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started int64
		finish := make(chan struct{})
		r := newRevisionShare(func(context.Context) (int64, error) {
			started++
			n := started
			<-finish
			return n, nil
		})
		results := make(chan int64, 100)
		ask := func() {
			rev, err := r.get(context.Background())
			if err != nil {
				t.Error(err)
			}
			results <- rev
		}
		go ask()
		synctest.Wait() // the first read is under way
		for range 50 {
			go ask()
		}
		synctest.Wait() // they all wait
		finish <- struct{}{}
		if got := <-results; got != 1 {
			t.Fatalf("the first caller got read %d", got)
		}
		finish <- struct{}{}
		for range 50 {
			if got := <-results; got != 2 {
				t.Fatalf("a caller that came during read 1 got read %d, want 2", got)
			}
		}
		synctest.Wait()
		if r.running || started != 2 {
			t.Fatalf("%d reads, running=%v; want 2 reads and rest", started, r.running)
		}
	})
}

func TestRevisionShareCallerLeaves(t *testing.T) {
	block := make(chan struct{})
	r := newRevisionShare(func(context.Context) (int64, error) { <-block; return 1, nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.get(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	close(block)
}

func TestLeaseShare(t *testing.T) {
	now := time.Unix(1000, 0)
	var granted []int64
	l := newLeaseShare(func(_ context.Context, seconds int64) (clientv3.LeaseID, error) {
		granted = append(granted, seconds)
		return clientv3.LeaseID(len(granted)), nil
	}, func() time.Time { return now })
	get := func(ttl time.Duration) clientv3.LeaseID {
		t.Helper()
		id, err := l.get(t.Context(), ttl)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if get(0) != clientv3.NoLease {
		t.Error("a ttl of zero got a lease")
	}
	first := get(time.Hour)
	if granted[0] != 3660 {
		t.Errorf("granted %d s for an hour, want the hour and the window", granted[0])
	}
	now = now.Add(59 * time.Second)
	if get(time.Hour) != first {
		t.Error("the lease was not shared within the window")
	}
	now = now.Add(2 * time.Second)
	second := get(time.Hour)
	if second == first {
		t.Error("the lease was given out after its window: its keys would die early")
	}
	l.forget(second)
	if get(time.Hour) == second {
		t.Error("a forgotten lease was given out")
	}
	if get(time.Minute); granted[len(granted)-1] != 66 {
		t.Errorf("granted %d s for a minute, want 66", granted[len(granted)-1])
	}
	full := get(time.Second)
	for range maxLeaseKeys - 1 {
		get(time.Second)
	}
	if get(time.Second) == full {
		t.Errorf("a lease got more than %d keys", maxLeaseKeys)
	}
}

func TestRevokedLeaseIsReplaced(t *testing.T) {
	s := start(t, t.TempDir()).Store()
	if _, err := s.Create(t.Context(), "/a", []byte("x"), time.Hour); err != nil {
		t.Fatal(err)
	}
	leases, err := s.client.Leases(t.Context())
	if err != nil || len(leases.Leases) != 1 {
		t.Fatalf("leases: %+v, %v", leases, err)
	}
	if _, err := s.client.Revoke(t.Context(), leases.Leases[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), "/b", []byte("x"), time.Hour); err != nil {
		t.Fatalf("create after the lease went away: %v", err)
	}
}

func TestCompaction(t *testing.T) {
	s := start(t, t.TempDir()).Store()
	ctx := t.Context()
	if rev, err := s.CompactedRevision(ctx); err != nil || rev != 0 {
		t.Fatalf("a new store was compacted to %d, %v", rev, err)
	}
	old, err := s.Create(ctx, "/a", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := s.compactor.compact(ctx, compactTurn{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Range(ctx, storage.Range{Prefix: "/", Revision: old}); err != nil {
		t.Fatalf("the first turn must not compact: %v", err)
	}
	if _, err := s.Update(ctx, "/a", []byte("2"), old, 0); err != nil {
		t.Fatal(err)
	}
	// A second server finds the turn taken and changes nothing.
	other, err := s.compactor.compact(ctx, compactTurn{})
	if err != nil || other.version != turn.version {
		t.Fatalf("a second server's turn: %+v, %v; want version %d", other, err, turn.version)
	}
	want := turn.revision
	if turn, err = s.compactor.compact(ctx, turn); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Range(ctx, storage.Range{Prefix: "/", Revision: old}); storage.KindOf(err) != storage.Compacted {
		t.Fatalf("history is still there: %v", err)
	}
	if got, err := s.CompactedRevision(ctx); err != nil || got != want {
		t.Fatalf("compacted revision %d, %v; want %d", got, err, want)
	}
	// The convention that kube-apiserver shares.
	kv, err := s.Get(ctx, "compact_rev_key")
	if err != nil || string(kv.Value) != strconv.FormatInt(want, 10) {
		t.Fatalf("compact_rev_key: %q, %v", kv.Value, err)
	}
	if _, err := s.compactor.compact(ctx, turn); err != nil {
		t.Fatal(err)
	}
}

func TestRunCompactor(t *testing.T) {
	s := start(t, t.TempDir()).Store()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	now, err := s.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	batches, reason := s.Watch(ctx, compactKey, now+1)
	done := make(chan error, 1)
	go func() { done <- s.RunCompactor(ctx, 10*time.Millisecond) }()
	for range batches {
		if rev, err := s.CompactedRevision(ctx); err == nil && rev > 0 {
			cancel()
		}
	}
	cancel()
	if err := reason(); !errors.Is(err, context.Canceled) {
		t.Errorf("watch: %v", err)
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("compactor ended with %v", err)
	}
}

func TestLead(t *testing.T) {
	e := start(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var leaders atomic.Int64
	led := make(chan int, 10)
	expired := func() float64 { return counted(t, "etcd_debugging_server_lease_expired_total") }
	before := expired()
	var wg sync.WaitGroup
	cancels := make([]context.CancelFunc, 3)
	for i := range cancels {
		s := connect(t, e)
		var mine context.Context
		mine, cancels[i] = context.WithCancel(ctx)
		wg.Go(func() {
			err := s.Lead(mine, "test", func(ctx context.Context) {
				if n := leaders.Add(1); n != 1 {
					t.Errorf("%d leaders at once", n)
				}
				led <- i
				<-ctx.Done()
				leaders.Add(-1)
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("lead ended with %v", err)
			}
		})
	}
	for range cancels {
		select {
		case i := <-led:
			cancels[i]() // the next one takes over without waiting for a lease to expire
		case <-time.After(time.Minute):
			t.Fatal("nobody took over")
		}
	}
	if n := expired() - before; n > 0 {
		t.Errorf("%v leases had to expire", n)
	}
	cancel()
	wg.Wait()
}

func TestLeadEmbeddedStartsAtOnce(t *testing.T) {
	s := start(t, t.TempDir()).Store()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := s.Lead(ctx, "test", func(context.Context) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("lead ended with %v", err)
	}
}

// What a refused write found is known as far as etcd told it.
func TestWhatARefusedWriteFound(t *testing.T) {
	found := func(kvs ...*mvccpb.KeyValue) *etcdserverpb.ResponseOp {
		return &etcdserverpb.ResponseOp{Response: &etcdserverpb.ResponseOp_ResponseRange{ResponseRange: &etcdserverpb.RangeResponse{Kvs: kvs}}}
	}
	resp := &clientv3.TxnResponse{Responses: []*etcdserverpb.ResponseOp{found(), found(&mvccpb.KeyValue{Key: []byte("k"), Value: []byte("v"), ModRevision: 7})}}
	if kv := present(resp, 1); kv == nil || kv.Key != "k" || string(kv.Value) != "v" || kv.Revision != 7 {
		t.Errorf("%+v", kv)
	}
	for _, i := range []int{0, 2, 3} {
		if kv := present(resp, i); kv != nil {
			t.Errorf("%d: %+v", i, kv)
		}
	}
}

// A write that depends on more keys than etcd compares at a time is refused, and nobody has
// to wonder whether it happened.
func TestWritesThatDependOnTooMuchAreRefused(t *testing.T) {
	for name, s := range map[string]*Store{"embedded": startAlone(t).Store(), "client": connect(t, start(t, t.TempDir()))} {
		rev, err := s.Create(t.Context(), "guard", []byte("g"), 0)
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range map[int]storage.Kind{127: 0, 128: storage.TooMany} {
			to := storage.GuardedWriter(s.While("guard", rev))
			for range n - 1 {
				to = to.While("guard", rev)
			}
			key := fmt.Sprint("key-", n)
			if _, err := to.Create(t.Context(), key, []byte("v"), 0); storage.KindOf(err) != want || (err == nil) != (want == 0) {
				t.Errorf("%s, after %d: %v", name, n, err)
			}
			if _, err := s.Get(t.Context(), key); (err == nil) != (want == 0) {
				t.Errorf("%s, after %d: %v", name, n, err)
			}
		}
	}
}
