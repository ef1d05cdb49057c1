package wasm

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

// looking is a guest whose hooks look up what the request names, some times, and
// reply what they are told, which they have put at a place.
func looking(times int, at int32) Guest {
	ask := Join([]byte{0x20, 0, 0x20, 1, 0x10, 0, 0x21, 2})
	code := Join(bytes.Repeat(ask, times), ConstI32(at), []byte{0x10, 1, 0x20, 2}, ConstI64(0xffffffff), []byte{0x83}, ConstI64(uint64(uint32(at))<<32), []byte{0x84})
	f := Hook(code...)
	f.Locals = []byte{1, 1, I64}
	g := Echo("").With(string(plugins.Admit), f).With(string(plugins.Convert), f)
	g.Imports = []Import{
		{Module: plugins.ImportModule, Name: plugins.ImportLookup, Params: []byte{I32, I32}, Results: []byte{I64}},
		{Module: plugins.ImportModule, Name: plugins.ImportResult, Params: []byte{I32}},
	}
	return g
}

func TestLookups(t *testing.T) {
	const object = `{"kind":"ConfigMap"}`
	asked := 0
	find := func(_ context.Context, o plugins.Object) ([]byte, error) {
		asked++
		switch o.Name {
		case "there":
			return []byte(object), nil
		case "large":
			return bytes.Repeat([]byte("x"), plugins.MaxLookupBytes+1), nil
		case "secret":
			return nil, errors.New("not granted")
		}
		return nil, plugins.ErrNoObject
	}
	for name, c := range map[string]struct {
		request, reply string
		find           plugins.Lookup
		times          int
	}{
		"found":       {"/configmaps/a/there", object, find, 1},
		"none":        {"/configmaps/a/nothing", "", find, 1},
		"refused":     {"/configmaps/a/secret", "not granted", find, 1},
		"large":       {"/configmaps/a/large", "/configmaps/a/large has 1048577 bytes, more than the 1048576 that are shown", find, 1},
		"no name":     {"configmaps", `"configmaps" does not name an object; GROUP/RESOURCE/NAMESPACE/NAME does`, find, 1},
		"many":        {"/configmaps/a/there", object, find, plugins.MaxLookups},
		"too many":    {"/configmaps/a/there", "more than 32 lookups in one call", find, plugins.MaxLookups + 1},
		"not allowed": {"/configmaps/a/there", "objects can be looked up by admission only", nil, 1},
	} {
		guest, before := start(t, looking(c.times, 70000).Bytes(), plugins.Limits{}), asked
		for range 2 { // a call finds nothing of the one before
			reply, err := guest.CallSeeing(t.Context(), plugins.Admit, []byte(c.request), 1, c.find)
			if err != nil || string(reply) != c.reply {
				t.Errorf("%s: %.200q, %v", name, reply, err)
			}
		}
		if asked-before > 2*plugins.MaxLookups {
			t.Errorf("%s: %d lookups", name, asked-before)
		}
	}
}

// A lookup costs the same each time, and more for what is larger, as does its copy.
func TestLookupsCostFuel(t *testing.T) {
	cost := func(times, size int) int64 {
		guest := start(t, looking(times, 70000).Bytes(), plugins.Limits{})
		find := func(context.Context, plugins.Object) ([]byte, error) { return make([]byte, size), nil }
		if _, err := guest.CallSeeing(t.Context(), plugins.Admit, []byte("/configmaps/a/b"), 1, find); err != nil {
			t.Fatal(err)
		}
		return guest.env.fuel.used()
	}
	one, two, three, larger := cost(1, 100), cost(2, 100), cost(3, 100), cost(1, 1100)
	if two-one < lookupFuel+100 || three-two != two-one || larger-one != 2*1000 {
		t.Errorf("%d for one, %d for two, %d for three, %d for a larger one", one, two, three, larger)
	}
}

// So does what is copied of the answer, as often as it is.
func TestCopiesOfAnAnswerCostFuel(t *testing.T) {
	const size, times = 60_000, 100
	cost := func(copies int) int64 {
		g := looking(1, 70000)
		f := Hook(Join([]byte{0x20, 0, 0x20, 1, 0x10, 0, 0x1a}, bytes.Repeat(Join(ConstI32(70000), []byte{0x10, 1}), copies), ConstI64(uint64(DataAt)<<32))...)
		guest := start(t, g.With(string(plugins.Admit), f).Bytes(), plugins.Limits{})
		find := func(context.Context, plugins.Object) ([]byte, error) { return make([]byte, size), nil }
		if _, err := guest.CallSeeing(t.Context(), plugins.Admit, []byte("/configmaps/a/b"), 1, find); err != nil {
			t.Fatal(err)
		}
		return guest.env.fuel.used()
	}
	if none, all := cost(0), cost(times); all-none < times*size {
		t.Errorf("%d copies of %d bytes cost %d", times, size, all-none)
	}
}

func TestLookupsStayInMemory(t *testing.T) {
	find := func(context.Context, plugins.Object) ([]byte, error) { return []byte("{}"), nil }
	outside := Hook(Join(ConstI32(-8), ConstI32(100), []byte{0x10, 0})...)
	for name, guest := range map[string]Guest{
		"result": looking(1, -1), "lookup": looking(1, 70000).With(string(plugins.Admit), outside),
	} {
		_, err := start(t, guest.Bytes(), plugins.Limits{}).CallSeeing(t.Context(), plugins.Admit, []byte("/configmaps/a/b"), 1, find)
		var call *plugins.CallError
		if !errors.As(err, &call) || call.Kind != plugins.Trap || !strings.Contains(err.Error(), "memory") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
