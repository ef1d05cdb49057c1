package blob

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// nothing is referred to.
func nothing(context.Context) (map[string]bool, error) { return nil, nil }

func only(digests ...string) func(context.Context) (map[string]bool, error) {
	used := map[string]bool{}
	for _, d := range digests {
		used[d] = true
	}
	return func(context.Context) (map[string]bool, error) { return used, nil }
}

func put(t *testing.T, b *Blobs, data []byte) string {
	t.Helper()
	digest, err := b.PutBlob(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func sweep(t *testing.T, c *Collector, used func(context.Context) (map[string]bool, error), want int) {
	t.Helper()
	if removed, err := c.Sweep(t.Context(), used); err != nil || removed != want {
		t.Errorf("removed %d, %v; want %d", removed, err, want)
	}
}

func (b *Blobs) has(t *testing.T, digest string) bool {
	t.Helper()
	_, err := b.GetBlob(t.Context(), digest)
	if err != nil && storage.KindOf(err) != storage.NotFound {
		t.Error(err)
	}
	return err == nil
}

// world is a store with a clock.
func world(grace time.Duration) (*storagetest.Memory, *Blobs, *Collector, func(time.Duration)) {
	m := storagetest.NewMemory()
	b := New(m, "/b")
	c := NewCollector(b, grace)
	now := time.Unix(1000, 0)
	c.now = func() time.Time { return now }
	return m, b, c, func(d time.Duration) { now = now.Add(d) }
}

func TestCollectsWhatNothingRefersToAfterTheGracePeriod(t *testing.T) {
	m, b, c, wait := world(time.Minute)
	kept, gone := put(t, b, random(2*ChunkSize)), put(t, b, random(ChunkSize+1))
	sweep(t, c, only(kept), 0)
	wait(time.Minute - 1)
	sweep(t, c, only(kept), 0)
	if !b.has(t, gone) {
		t.Fatal("removed within the grace period")
	}
	wait(1)
	sweep(t, c, only(kept), 1)
	if b.has(t, gone) || !b.has(t, kept) {
		t.Error("the wrong one is gone")
	}
	page, err := m.Range(t.Context(), storage.Range{Prefix: "/b"})
	if err != nil || len(page.KVs) != 3 {
		t.Errorf("%d keys are left, %v", len(page.KVs), err)
	}
	wait(time.Hour)
	sweep(t, c, only(kept), 0)
}

func TestAReferenceStartsTheGracePeriodAgain(t *testing.T) {
	_, b, c, wait := world(time.Minute)
	digest := put(t, b, random(5))
	sweep(t, c, nothing, 0)
	wait(time.Hour)
	sweep(t, c, only(digest), 0)
	sweep(t, c, nothing, 0)
	wait(time.Minute - 1)
	sweep(t, c, nothing, 0)
	wait(1)
	sweep(t, c, nothing, 1)
}

// An upload of bytes that are there already protects them like new ones.
func TestAnUploadStartsTheGracePeriodAgain(t *testing.T) {
	_, b, c, wait := world(time.Minute)
	data := random(ChunkSize + 5)
	digest := put(t, b, data)
	sweep(t, c, nothing, 0)
	wait(time.Hour)
	put(t, b, data)
	sweep(t, c, nothing, 0)
	wait(time.Minute)
	sweep(t, c, only(digest), 0)
	if !b.has(t, digest) {
		t.Error("gone between its upload and its reference")
	}
}

func TestAnUploadInTheMiddleOfASweepWins(t *testing.T) {
	_, b, c, _ := world(0)
	data := random(2 * ChunkSize)
	digest := put(t, b, data)
	sweep(t, c, func(context.Context) (map[string]bool, error) {
		put(t, b, data)
		return nil, nil
	}, 0)
	if !b.has(t, digest) {
		t.Error("removed although it was uploaded again")
	}
}

func TestCollectsWhatWasNotCompleted(t *testing.T) {
	m, _, c, wait := world(time.Minute)
	data := random(3 * ChunkSize)
	if _, err := New(&failing{m, 2}, "/b").PutBlob(t.Context(), data); err == nil {
		t.Fatal("completed")
	}
	sweep(t, c, nothing, 0)
	wait(time.Minute)
	if _, err := New(&failing{m, 1}, "/b").PutBlob(t.Context(), data); err == nil { // goes on a bit
		t.Fatal("completed")
	}
	sweep(t, c, nothing, 0)
	wait(time.Minute)
	sweep(t, c, nothing, 1)
	if page, err := m.Range(t.Context(), storage.Range{Prefix: "/"}); err != nil || len(page.KVs) != 0 {
		t.Errorf("%d keys are left, %v", len(page.KVs), err)
	}
}

// interposed calls between before each deletion of a key.
type interposed struct {
	storage.Store
	between func(key string)
}

func (s *interposed) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	s.between(key)
	return s.Store.Delete(ctx, key, rev)
}

// An upload that comes while a blob is being removed, at whichever key, is
// complete afterwards.
func TestAnUploadDuringARemovalIsComplete(t *testing.T) {
	data := random(2*ChunkSize + 1)
	for _, at := range []string{"manifest", "00000", "00001", "00002"} {
		m := storagetest.NewMemory()
		uploads := New(m, "/b")
		digest := put(t, uploads, data)
		done := false
		s := &interposed{Store: m, between: func(key string) {
			if key == "/b/"+digest[7:]+"/"+at && !done {
				done = true
				put(t, uploads, data)
			}
		}}
		if _, err := NewCollector(New(s, "/b"), 0).Sweep(t.Context(), nothing); err != nil || !done {
			t.Errorf("%s: %v", at, err)
		}
		if got, err := uploads.GetBlob(t.Context(), digest); err != nil || !bytes.Equal(got, data) {
			t.Errorf("uploaded before %s was removed: %v", at, err)
		}
	}
}

func TestASweepThatFailsRemovesNothingElse(t *testing.T) {
	_, b, c, _ := world(0)
	digest := put(t, b, random(5))
	broken := errors.New("the cache is not ready")
	if _, err := c.Sweep(t.Context(), func(context.Context) (map[string]bool, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if !b.has(t, digest) {
		t.Error("removed without knowing the references")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.blobs = New(&unreadable{}, "/b")
	if _, err := c.Sweep(ctx, nothing); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

type unreadable struct{ storage.Store }

func (unreadable) Range(context.Context, storage.Range) (storage.Page, error) {
	return storage.Page{}, &storage.Error{Kind: storage.Unavailable, Cause: errFull}
}

// Whatever the order, each blob is judged by itself.
func TestEveryBlobIsLookedAt(t *testing.T) {
	m, b, c, _ := world(0)
	var kept, gone []string
	for n := range 8 {
		kept = append(kept, put(t, b, random(10+2*n)))
		gone = append(gone, put(t, b, random(11+2*n)))
	}
	m.Apply(storage.Event{KV: storage.KV{Key: "/b/0000foreign/x", Value: []byte("y")}})
	removed, err := c.Sweep(t.Context(), only(kept...))
	if removed != len(gone) || !errors.Is(err, ErrDigest) {
		t.Errorf("removed %d, %v", removed, err)
	}
	for n := range kept {
		if !b.has(t, kept[n]) || b.has(t, gone[n]) {
			t.Errorf("blob %d: kept %v, unreferenced %v", n, b.has(t, kept[n]), b.has(t, gone[n]))
		}
	}
}

// stuck fails to delete some keys, for a reason.
type stuck struct {
	storage.Store
	suffix string
	err    error
}

func (s *stuck) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	if strings.HasSuffix(key, s.suffix) {
		return 0, s.err
	}
	return s.Store.Delete(ctx, key, rev)
}

// hidden does not tell what there is below some keys.
type hidden struct {
	storage.Store
	prefix string
}

func (s hidden) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	if strings.HasPrefix(r.Prefix, s.prefix) {
		return storage.Page{}, &storage.Error{Kind: storage.Unavailable, Cause: errFull}
	}
	return s.Store.Range(ctx, r)
}

// Of chunks that cannot be listed nobody says that they are gone.
func TestChunksThatCannotBeListedAreReported(t *testing.T) {
	m, b, c, _ := world(0)
	digest := put(t, b, random(2*ChunkSize))
	c.blobs = New(hidden{m, "/b/" + digest[7:]}, "/b")
	for range 2 { // with its manifest, and without
		if removed, err := c.Sweep(t.Context(), nothing); removed != 0 || !errors.Is(err, errFull) {
			t.Errorf("removed %d, %v", removed, err)
		}
	}
	c.blobs = b
	sweep(t, c, nothing, 1)
}

func TestAKeyThatCannotBeRemovedIsReported(t *testing.T) {
	down := &storage.Error{Kind: storage.Unavailable, Cause: errFull}
	for _, c := range []struct {
		suffix  string
		err     error
		removed int
		want    error
	}{
		{"manifest", down, 0, errFull},
		{"00001", down, 0, errFull},
		{"00001", &storage.Error{Kind: storage.NotFound}, 1, nil},
		{"00001", &storage.Error{Kind: storage.Conflict}, 1, nil},
		{"manifest", &storage.Error{Kind: storage.NotFound}, 1, nil},
		{"manifest", &storage.Error{Kind: storage.Conflict}, 0, nil},
	} {
		m := storagetest.NewMemory()
		put(t, New(m, "/b"), random(2*ChunkSize))
		removed, err := NewCollector(New(&stuck{m, c.suffix, c.err}, "/b"), 0).Sweep(t.Context(), nothing)
		if removed != c.removed || !errors.Is(err, c.want) {
			t.Errorf("%s fails with %v: removed %d, %v", c.suffix, c.err, removed, err)
		}
	}
}

func TestCollectorAgainstUploads(t *testing.T) {
	m := storagetest.NewMemory()
	b := New(m, "/b")
	data := random(2*ChunkSize + 9)
	ctx, stop := context.WithCancel(t.Context())
	var sweeps sync.WaitGroup
	sweeps.Go(func() {
		for c := NewCollector(b, 0); ctx.Err() == nil; {
			if _, err := c.Sweep(t.Context(), nothing); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 50 {
		put(t, b, data)
	}
	stop()
	sweeps.Wait()
	digest := put(t, b, data)
	if got, err := b.GetBlob(t.Context(), digest); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// counting counts writes, and does something before the first update.
type counting struct {
	storage.Store
	writes int
	before func()
}

func (s *counting) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	s.writes++
	return s.Store.Create(ctx, key, value, ttl)
}

func (s *counting) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	s.writes++
	if s.before != nil {
		s.before()
		s.before = nil
	}
	return s.Store.Update(ctx, key, value, rev, ttl)
}

func TestWhatIsThereIsNotWrittenAgainButForItsManifest(t *testing.T) {
	m := storagetest.NewMemory()
	data := random(3 * ChunkSize)
	digest := put(t, New(m, "/b"), data)
	s := &counting{Store: m}
	put(t, New(s, "/b"), data)
	if s.writes != 1 {
		t.Errorf("%d writes", s.writes)
	}
	s.before = func() {
		if removed, err := NewCollector(New(m, "/b"), 0).Sweep(t.Context(), nothing); removed != 1 || err != nil {
			t.Error(removed, err)
		}
	}
	put(t, New(s, "/b"), data)
	if !New(m, "/b").has(t, digest) {
		t.Error("gone, as it was collected just before it was written")
	}
}
