package api

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// asks is a store that counts how often it was asked what its revision is.
type asks struct {
	*storagetest.Memory
	count   atomic.Int64
	forgets atomic.Bool // writes are done, and it is not told
}

func (a *asks) Revision(ctx context.Context) (int64, error) {
	a.count.Add(1)
	return a.Memory.Revision(ctx)
}

// What describes the kinds is as recent as the store; other documents wait for nobody.
func TestDocumentsThatAskTheStore(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]int64{
		"/apis": 1, "/apis/": 1, "/apis/example.com": 1, "/apis/example.com/v1": 1, "/openapi/v2": 1, "/openapi/v3": 1,
		"/version": 0, "/hello": 0, "/api": 0, "/api/v1": 0, "/apisx": 0, "/openapi": 0, "/": 0,
	} {
		before := w.store.count.Load()
		w.do("GET", path, "")
		if got := w.store.count.Load() - before; got != want {
			t.Errorf("%s asks %d times, want %d", path, got, want)
		}
	}
}
