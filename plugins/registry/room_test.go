package registry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// shut is a room that others may fill.
type shut struct{ full bool }

func (s *shut) Take(int) bool                                 { return !s.full }
func (*shut) Give(int)                                        {}
func (s *shut) Wait(context.Context, int, time.Duration) bool { return !s.full }

// A conversion for which there is no instance, and no room for another one, says that it
// may do later, and does.
func TestAConversionWithoutRoomMayDoLater(t *testing.T) {
	room := &shut{}
	e, err := wasm.NewEngine(t.Context(), wasm.Config{Room: room})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	r := registry.New(registry.Config{Compiler: e, LoadTimeout: 10 * time.Minute, IdleBytes: 1})
	defer func() { _ = r.Close(context.Background()) }()
	set(t, r, "crontab", plugintest.Build(t, plugintest.CronTab))
	tab := [][]byte{[]byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"one"},"hostPort":"h:1"}`)}
	room.full = true
	_, err = r.Converter("crontab").Convert(t.Context(), "example.com/v1", tab)
	var failed *conversion.Error
	var call *plugins.CallError
	if !errors.As(err, &failed) || !failed.Later() || failed.OfObjects() || !errors.As(err, &call) || call.Kind != plugins.NoRoom {
		t.Errorf("without room: %v", err)
	}
	room.full = false
	if _, err := r.Converter("crontab").Convert(t.Context(), "example.com/v1", tab); err != nil {
		t.Error(err)
	}
}
