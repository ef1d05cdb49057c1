package blob

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// away is a store that, for one key, is away.
type away struct {
	storage.Store
	key string
}

func (a away) Get(ctx context.Context, key string) (storage.KV, error) {
	if strings.HasSuffix(key, a.key) {
		return storage.KV{}, &storage.Error{Kind: storage.Unavailable, Key: key}
	}
	return a.Store.Get(ctx, key)
}

// full is a writer that takes some writes, and no more.
type full struct{ takes int }

func (f *full) Write(p []byte) (int, error) {
	if f.takes--; f.takes < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// A store that is away is no corrupt blob, and nothing is put without knowing what room
// there is; what cannot be written is told, whichever piece it is.
func TestStoresThatAreAway(t *testing.T) {
	m := storagetest.NewMemory()
	digest, err := New(m, "/blobs").PutBlob(t.Context(), random(2*ChunkSize+1))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"/00001", "/manifest"} {
		if _, err := New(away{m, key}, "/blobs").GetBlob(t.Context(), digest); storage.KindOf(err) != storage.Unavailable || errors.Is(err, ErrCorrupt) || errors.Is(err, errUnreadable) {
			t.Errorf("%s: %v", key, err)
		}
	}
	_, write, err := New(m, "/blobs").OpenBlob(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	for takes := range 4 {
		if err := write(t.Context(), &full{takes}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("after %d writes: %v", takes, err)
		}
	}
	b := New(m, "/blobs").Limit(10 * ChunkSize)
	m.Down(errors.New("away"))
	if _, err := b.PutBlob(t.Context(), []byte("x")); storage.KindOf(err) != storage.Unavailable {
		t.Errorf("put: %v", err)
	}
	if _, err := b.Used(t.Context()); storage.KindOf(err) != storage.Unavailable {
		t.Errorf("used: %v", err)
	}
}
