package blob

import (
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func TestTheSumOfBlobsIsBounded(t *testing.T) {
	m := storagetest.NewMemory()
	b := New(m, "/blobs").Limit(3 * ChunkSize)
	one, two := random(2*ChunkSize), random(ChunkSize)
	for i, data := range [][]byte{one, two, one} { // what is there already needs no room
		if _, err := b.PutBlob(t.Context(), data); err != nil {
			t.Fatal(i, err)
		}
	}
	if used, err := b.Used(t.Context()); err != nil || used != 3*ChunkSize {
		t.Errorf("%d bytes in use, %v", used, err)
	}
	_, err := b.PutBlob(t.Context(), []byte("x"))
	if !errors.Is(err, ErrQuota) || !strings.HasSuffix(err.Error(), "1572864 of 1572864 bytes are in use, and these are 1") {
		t.Errorf("one byte too many: %v", err)
	}
	if _, err := New(m, "/blobs").PutBlob(t.Context(), []byte("x")); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	if removed, err := NewCollector(b, 0).Sweep(t.Context(), nothing); err != nil || removed != 3 {
		t.Fatal(removed, err)
	}
	if _, err := b.PutBlob(t.Context(), []byte("x")); err != nil {
		t.Errorf("after the others went: %v", err)
	}
}

func TestAnOddManifestCountsNothing(t *testing.T) {
	m := storagetest.NewMemory()
	b := New(m, "/blobs").Limit(10)
	for i, text := range []string{"?", `{"size":-5}`, `{"size":268435457}`} {
		if _, err := m.Create(t.Context(), "/blobs/"+strings.Repeat(string(rune('a'+i)), 64)+"/manifest", []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	if used, err := b.Used(t.Context()); err != nil || used != 0 {
		t.Errorf("%d, %v", used, err)
	}
	if _, err := b.PutBlob(t.Context(), []byte("0123456789")); err != nil {
		t.Error(err)
	}
}
