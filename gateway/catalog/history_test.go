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
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
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
		big := append(append([]byte(`{"a":"`), bytes.Repeat([]byte("x"), 100_000)...), `"}`...)
		rev, err := m.Create(ctx, key, big, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Cache().Wait(ctx, rev); err != nil {
			t.Fatal(err)
		}
		it, _ := c.Cache().Bucket("example.com/things").Snapshot().Get("ns/a")
		it.Value.addView(&view{viewKey: viewKey{Encoding: encoding.At("v2")}, data: bytes.Clone(big)})
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

func TestShedGivesUpWhatWasDerived(t *testing.T) {
	e := NewEntry(storage.KV{Value: []byte(`{"metadata":{"labels":{"a":"b"}}}`), Revision: 7})
	small := e.Size()
	k := viewKey{Encoding: encoding.At("v2")}
	e.addView(&view{viewKey: k, data: make([]byte, 5000)})
	if e.Size() < small+5000 || e.view(k) == nil {
		t.Errorf("with a view of 5000 bytes the size is %d, without %d", e.Size(), small)
	}
	e.Shed()
	if e.Size() != small || e.view(k) != nil || len(e.Stored) == 0 {
		t.Errorf("after it was given up the size is %d, was %d", e.Size(), small)
	}
}
