package etcd

import (
	"fmt"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wasmgate/wasmgate/storage"
)

// withoutStreams is a server of before 3.7.
type withoutStreams struct{ *member }

func (withoutStreams) RangeStream(*pb.RangeRequest, pb.KV_RangeStreamServer) error {
	return status.Error(codes.Unimplemented, "unknown method RangeStream")
}

func TestScanWithoutStreams(t *testing.T) {
	e := startAlone(t)
	s, err := Open(t.Context(), Config{Endpoints: []string{serveMember(t, e, "3.6.0", func(m *member) pb.KVServer { return withoutStreams{m} })}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range 30 {
		if _, err := s.Create(t.Context(), fmt.Sprintf("/s/%02d", i), []byte("x"), 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		n := 0
		err := s.Scan(t.Context(), storage.Range{Prefix: "/s/"}, func(page storage.Page) error {
			n += len(page.KVs)
			return nil
		})
		if err != nil || n != 30 || !s.noStreams.Load() {
			t.Errorf("%d keys, %v; streams are known to be missing: %v", n, err, s.noStreams.Load())
		}
	}
	if kind := storage.KindOf(s.Scan(t.Context(), storage.Range{Prefix: "/s/", Revision: 1_000_000}, func(storage.Page) error { return nil })); kind != storage.FutureRevision {
		t.Errorf("a revision to come: %v", kind)
	}
}

// A server that streams is asked for streams, whether a revision is named or not.
func TestScanStreams(t *testing.T) {
	s := connect(t, start(t, t.TempDir()))
	rev, err := s.Create(t.Context(), "/s/a", []byte("x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, rev} {
		n := 0
		err := s.Scan(t.Context(), storage.Range{Prefix: "/s/", Revision: at}, func(page storage.Page) error {
			n += len(page.KVs)
			return nil
		})
		if err != nil || n != 1 || s.noStreams.Load() {
			t.Errorf("at %d: %d keys, %v; streams are known to be missing: %v", at, n, err, s.noStreams.Load())
		}
	}
}

// BenchmarkLoad reads many small keys page by page, as servers count them, and
// in one scan.
func BenchmarkLoad(b *testing.B) {
	const keys = 50_000
	e := start(b, b.TempDir())
	done := make(chan error)
	for w := range 50 {
		go func() {
			for i := w; i < keys; i += 50 {
				if _, err := e.Store().Create(b.Context(), fmt.Sprintf("/l/%06d", i), make([]byte, 100), 0); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 50 {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	for name, s := range map[string]*Store{"embedded": e.Store(), "client": connect(b, e)} {
		b.Run(name+"/pages", func(b *testing.B) {
			for b.Loop() {
				r := storage.Range{Prefix: "/l/", Limit: 500, Count: true}
				for n := 0; n < keys; {
					page, err := s.Range(b.Context(), r)
					if err != nil {
						b.Fatal(err)
					}
					n += len(page.KVs)
					r.After, r.Revision = page.KVs[len(page.KVs)-1].Key, page.Revision
				}
			}
		})
		b.Run(name+"/scan", func(b *testing.B) {
			for b.Loop() {
				n := 0
				err := s.Scan(b.Context(), storage.Range{Prefix: "/l/"}, func(page storage.Page) error { n += len(page.KVs); return nil })
				if err != nil || n != keys {
					b.Fatal(n, err)
				}
			}
		})
	}
}
