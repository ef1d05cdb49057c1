package blob

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func random(n int) []byte {
	b := make([]byte, n)
	rnd := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = rnd.Read(b) // never fails
	return b
}

func TestRoundTrip(t *testing.T) {
	m := storagetest.NewMemory()
	b := New(m, "/wasmgate/registry/blobs")
	for _, n := range []int{0, 1, ChunkSize - 1, ChunkSize, ChunkSize + 1, 3*ChunkSize + 7} {
		data := random(n)
		digest := Digest(data)
		if _, err := b.GetBlob(t.Context(), digest); storage.KindOf(err) != storage.NotFound {
			t.Errorf("%d bytes: there before they were put: %v", n, err)
		}
		for range 2 {
			if got, err := b.PutBlob(t.Context(), data); err != nil || got != digest {
				t.Fatal(got, err)
			}
		}
		got, err := b.GetBlob(t.Context(), digest)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: got %d, %v", n, len(got), err)
		}
		for _, want := range []int{1, 0} {
			if removed, err := NewCollector(b, 0).Sweep(t.Context(), nothing); err != nil || removed != want {
				t.Fatal(removed, err)
			}
		}
		if _, err := b.GetBlob(t.Context(), digest); storage.KindOf(err) != storage.NotFound {
			t.Errorf("%d bytes: there after they were deleted: %v", n, err)
		}
	}
	page, err := m.Range(t.Context(), storage.Range{Prefix: "/"})
	if err != nil || len(page.KVs) != 0 {
		t.Errorf("%d keys are left, %v", len(page.KVs), err)
	}
}

// pieces collects what is written to it, and how much at once.
type pieces struct {
	bytes.Buffer
	largest int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.largest = max(p.largest, len(b))
	return p.Buffer.Write(b)
}

// reads counts the reads of a store.
type reads struct {
	storage.Store
	n int
}

func (r *reads) Get(ctx context.Context, key string) (storage.KV, error) {
	r.n++
	return r.Store.Get(ctx, key)
}

// A blob is opened by its manifest alone, and written a chunk at a time.
func TestABlobIsWrittenPieceByPiece(t *testing.T) {
	m := &reads{Store: storagetest.NewMemory()}
	b := New(m, "/b")
	for _, n := range []int{0, 1, ChunkSize, 3*ChunkSize + 7} {
		data := random(n)
		digest, err := b.PutBlob(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		m.n = 0
		size, write, err := b.OpenBlob(t.Context(), digest)
		if err != nil || size != n || m.n != 1 {
			t.Errorf("%d bytes: %d, %d reads, %v", n, size, m.n, err)
		}
		var out pieces
		if err := write(t.Context(), &out); err != nil || !bytes.Equal(out.Bytes(), data) || out.largest > ChunkSize {
			t.Errorf("%d bytes: wrote %d, at most %d at once, %v", n, out.Len(), out.largest, err)
		}
	}
	if _, _, err := b.OpenBlob(t.Context(), Digest([]byte("other"))); storage.KindOf(err) != storage.NotFound {
		t.Errorf("what is not there: %v", err)
	}
	if _, _, err := b.OpenBlob(t.Context(), "nonsense"); !errors.Is(err, ErrDigest) {
		t.Errorf("no digest: %v", err)
	}
}

// failing lets n writes through.
type failing struct {
	storage.Store
	n int
}

var errFull = errors.New("disk full")

func (f *failing) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	if f.n == 0 {
		return 0, &storage.Error{Kind: storage.Unavailable, Cause: errFull}
	}
	f.n--
	return f.Store.Create(ctx, key, value, ttl)
}

func TestHalfWrittenIsNotReadable(t *testing.T) {
	data := random(3*ChunkSize + 1)
	digest := Digest(data)
	for n := range 5 { // four chunks and the manifest
		m := storagetest.NewMemory()
		if _, err := New(&failing{m, n}, "/b").PutBlob(t.Context(), data); !errors.Is(err, errFull) {
			t.Fatalf("after %d writes: %v", n, err)
		}
		b := New(m, "/b")
		if _, err := b.GetBlob(t.Context(), digest); storage.KindOf(err) != storage.NotFound {
			t.Errorf("after %d writes the blob reads with %v", n, err)
		}
		if _, err := b.PutBlob(t.Context(), data); err != nil {
			t.Errorf("a second try after %d writes: %v", n, err)
		}
		if got, err := b.GetBlob(t.Context(), digest); err != nil || !bytes.Equal(got, data) {
			t.Errorf("after the second try: %d bytes, %v", len(got), err)
		}
	}
}

func TestCorruption(t *testing.T) {
	data := random(2 * ChunkSize)
	digest := Digest(data)
	for _, damage := range []struct {
		key   string
		value []byte
	}{
		{"00000", data[:100]},
		{"00001", data[:ChunkSize]},
		{"00001", random(ChunkSize + 1)},
		{"00001", nil},
		{"00000", []byte{}},
		{"manifest", []byte(`{"size":-1}`)},
		{"manifest", []byte(`{"size":99999999999}`)},
		{"manifest", []byte("nonsense")},
	} {
		m := storagetest.NewMemory()
		b := New(m, "/b")
		if _, err := b.PutBlob(t.Context(), data); err != nil {
			t.Fatal(err)
		}
		dir, err := b.dir(digest)
		if err != nil {
			t.Fatal(err)
		}
		ev := storage.Event{KV: storage.KV{Key: dir + damage.key, Value: damage.value}, Deleted: damage.value == nil}
		m.Apply(ev)
		if _, err := b.GetBlob(t.Context(), digest); !errors.Is(err, ErrCorrupt) {
			t.Errorf("damaged %s: %v", damage.key, err)
		}
		if _, write, err := b.OpenBlob(t.Context(), digest); err == nil {
			var out bytes.Buffer
			if err := write(t.Context(), &out); !errors.Is(err, ErrCorrupt) || out.Len() >= len(data) {
				t.Errorf("damaged %s: wrote %d of %d bytes, %v", damage.key, out.Len(), len(data), err)
			}
		}
		if _, err := b.PutBlob(t.Context(), data); err != nil {
			t.Errorf("mending %s: %v", damage.key, err)
		}
		if _, err := b.GetBlob(t.Context(), digest); err != nil {
			t.Errorf("after mending %s: %v", damage.key, err)
		}
	}
}

// odd is a store whose writes fail with err, as often as it is left.
type odd struct {
	storage.Store
	err  error
	left int
}

func (s *odd) write() error {
	if s.left == 0 {
		return nil
	}
	s.left--
	return s.err
}

func (s *odd) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	if err := s.write(); err != nil {
		return 0, err
	}
	return s.Store.Create(ctx, key, value, ttl)
}

func (s *odd) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	if err := s.write(); err != nil {
		return 0, err
	}
	return s.Store.Update(ctx, key, value, rev, ttl)
}

// A write that somebody is in the way of is tried again, for a while; any other
// failure is told.
func TestAWriteThatFailsIsTold(t *testing.T) {
	changed := &storage.Error{Kind: storage.Conflict, Current: &storage.KV{Revision: 1}}
	gone := &storage.Error{Kind: storage.NotFound}
	foreign := errors.New("not of the store")
	for name, c := range map[string]struct {
		err   error
		times int
		ok    bool
	}{
		"foreign": {foreign, 1, false}, "removed meanwhile": {gone, 1, true},
		"changed for ever": {changed, 1000, false}, "removed for ever": {gone, 1000, false},
	} {
		m := storagetest.NewMemory()
		_, err := New(&odd{m, c.err, c.times}, "/b").PutBlob(t.Context(), []byte("x"))
		if (err == nil) != c.ok || err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := New(m, "/b").GetBlob(t.Context(), Digest([]byte("x"))); (err == nil) != c.ok {
			t.Errorf("%s: then it reads with %v", name, err)
		}
	}
}

func TestABlobThatIsTooLargeIsRefused(t *testing.T) {
	m := storagetest.NewMemory()
	if _, err := New(m, "/b").PutBlob(t.Context(), make([]byte, MaxSize+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
	if page, err := m.Range(t.Context(), storage.Range{Prefix: "/"}); err != nil || len(page.KVs) != 0 {
		t.Errorf("%d keys are written, %v", len(page.KVs), err)
	}
}

func TestBadDigests(t *testing.T) {
	b := New(storagetest.NewMemory(), "/b")
	data := []byte("x")
	for _, digest := range []string{
		"", "sha256:", "sha256:abc", "sha512:" + Digest(data)[7:], Digest(data)[7:], "sha256:..",
		strings.ToUpper(Digest(data)), "sha256:../../../registry/" + strings.Repeat("a", 40),
	} {
		if _, err := b.GetBlob(t.Context(), digest); !errors.Is(err, ErrDigest) {
			t.Errorf("get %q: %v", digest, err)
		}
	}
	if _, err := b.PutBlob(t.Context(), make([]byte, MaxSize+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("put: %v", err)
	}
}

func TestConcurrentPuts(t *testing.T) {
	b := New(storagetest.NewMemory(), "/b")
	data := random(2*ChunkSize + 3)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := b.PutBlob(t.Context(), data); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := b.GetBlob(t.Context(), Digest(data)); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// sealed is a store of which one key cannot be decrypted.
type sealed struct {
	storage.Store
	key string
}

func (s sealed) Get(ctx context.Context, key string) (storage.KV, error) {
	kv, err := s.Store.Get(ctx, key)
	if strings.HasSuffix(key, s.key) {
		kv.Value, kv.Keeping = nil, storage.Unreadable
	}
	return kv, err
}

// What cannot be decrypted is not read, and is not corrupt: the key may come back.
func TestSealedBlobs(t *testing.T) {
	m := storagetest.NewMemory()
	digest, err := New(m, "/blobs").PutBlob(t.Context(), []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"/manifest", "/00000"} {
		_, err := New(sealed{m, key}, "/blobs").GetBlob(t.Context(), digest)
		if err == nil || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "cannot be decrypted") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
