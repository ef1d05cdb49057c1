package catalog

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage/storagetest"
	"github.com/wasmgate/wasmgate/test/logtest"
)

// TestCacheIsBoundedAndHeard: what the cache keeps of the past is counted in
// bytes, with what was derived, and its failures are logged.
func TestCacheIsBoundedAndHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		var log logtest.Log
		builtins, err := builtin.All(builtin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := New(Options{
			Store: m, Prefix: "/registry/", Builtins: builtins, Log: zerolog.New(&log),
			Compile: func([]byte, *crd.Definition) (*crd.Definition, error) { return nil, nil },
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Cache().Run(ctx) }()
		t.Cleanup(func() { cancel(); <-done })
		<-c.Cache().Ready()

		const key = "/registry/example.com/things/ns/a"
		big := append(append([]byte(`{"metadata":{"name":"`), bytes.Repeat([]byte("x"), 100_000)...), `"}}`...)
		rev, err := m.Create(ctx, key, big, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Cache().Wait(ctx, rev); err != nil {
			t.Fatal(err)
		}
		it, _ := c.Cache().Bucket("example.com/things").Snapshot().Get("ns/a")
		r := view.New(&crd.Definition{}, nil, nil)
		if _, err := r.Object(ctx, it.Value, encoding.MetadataOnly()); err != nil {
			t.Fatal(err)
		}
		if held := c.Cache().HistoryBytes(); held > 1000 {
			t.Errorf("a present object counts %d bytes as history", held)
		}
		if rev, err = m.Update(ctx, key, []byte(`{}`), rev, 0); err != nil {
			t.Fatal(err)
		}
		if err := c.Cache().Wait(ctx, rev); err != nil {
			t.Fatal(err)
		}
		if held := c.Cache().HistoryBytes(); held < 200_000 {
			t.Errorf("history counts %d bytes, holds an object and a view of 100 KB each", held)
		}

		m.Down(errors.New("gone fishing"))
		synctest.Wait()
		if !strings.Contains(log.String(), "gone fishing") {
			t.Errorf("the outage is not in the log: %s", log.String())
		}
		m.Down(nil)
	})
}
