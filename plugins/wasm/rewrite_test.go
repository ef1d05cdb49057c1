package wasm

import (
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// FuzzRewrite: what is rewritten is a module as good as before, within the
// limits.
func FuzzRewrite(f *testing.F) {
	f.Add(Echo("{}").Bytes())
	f.Add(recursion().Bytes())
	table := Echo("{}")
	table.TableEntries = 7
	f.Add(table.Bytes())
	limits := plugins.Limits{MemoryBytes: 32 * pageBytes}.Effective()
	e := engine(f)
	f.Fuzz(func(t *testing.T, module []byte) {
		before, _, err := e.inspect(module)
		if err != nil {
			return
		}
		rewritten, err := rewrite(before, limits, nil)
		if err != nil {
			return
		}
		after, err := binary.Decode(rewritten)
		if err != nil || len(after.Bodies) != len(before.Bodies)+before.Imported(binary.Func)+2 { // and two that fill and copy
			t.Fatalf("made a module that cannot be read: %v", err)
		}
		if l := after.Memories[0]; !l.HasMax || l.Max > 32+1 || l.Min != before.Memories[0].Min {
			t.Fatalf("memory %+v", l)
		}
		branches, err := meter.FindBranches(before)
		if err != nil {
			t.Fatal(err)
		}
		marked, err := rewrite(before, limits, branches)
		if err != nil {
			t.Fatal(err)
		}
		if with, err := binary.Decode(marked); err != nil || len(with.Tables) != len(after.Tables)+1 || len(with.Bodies) != len(after.Bodies)+1 {
			t.Fatalf("made a module with marks that cannot be read: %v", err)
		}
		for i, l := range after.Tables {
			if !l.HasMax || l.Max > binary.MaxTableEntries || l.Min != before.Tables[i].Min || l.Elem != before.Tables[i].Elem {
				t.Fatalf("table %+v", l)
			}
		}
	})
}

func TestCheckTellsWhatLoadWould(t *testing.T) {
	e := engine(t)
	if err := e.Check("m", Echo("{}").Bytes()); err != nil {
		t.Error(err)
	}
	for _, b := range Bombs() {
		err := e.Check("m", b.Module)
		_, loaded := e.Load(t.Context(), Source{Name: "m", Bytes: b.Module})
		var refused *plugins.LoadError
		if !errors.As(err, &refused) || refused.Module != "m" || !refused.Reason.Final() || !strings.Contains(refused.Detail, b.Says) ||
			loaded == nil || loaded.Error() != err.Error() {
			t.Errorf("%s: check %v, load %v", b.Name, err, loaded)
		}
	}
}

func TestRewritingKeepsToTheLimits(t *testing.T) {
	memory := func(min, max uint32, limit int64) (binary.Limits, error) {
		g := Echo("{}")
		g.Raw = map[byte][]byte{5: List(Join([]byte{1}, Number(int(min)), Number(int(max))))}
		m, _, err := engine(t).inspect(g.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		rewritten, err := rewrite(m, plugins.Limits{MemoryBytes: limit}, nil)
		if err != nil {
			return binary.Limits{}, err
		}
		after, err := binary.Decode(rewritten)
		if err != nil {
			t.Fatal(err)
		}
		return after.Memories[0], nil
	}
	for _, c := range []struct {
		min, max uint32
		limit    int64
		want     uint32 // 0: refused
	}{
		{1, 9, 20 * pageBytes, 9}, {1, 20, 20 * pageBytes, 20}, {1, 21, 20 * pageBytes, 20},
		{20, 30, 20 * pageBytes, 20}, {21, 30, 20 * pageBytes, 0}, {1, 9, 3*pageBytes - 1, 2},
	} {
		got, err := memory(c.min, c.max, c.limit)
		if err == nil {
			got.Max-- // the page that no guest gets
		}
		if (err != nil) != (c.want == 0) || got.Max != c.want || c.want > 0 && got.Min != c.min {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	g := Echo("{}")
	g.Raw = map[byte][]byte{4: List([]byte{0x70, 0, 5}, []byte{0x6f, 1, 1, 9}, Join([]byte{0x70, 0}, Number(binary.MaxTableEntries/2)))}
	m, _, err := engine(t).inspect(g.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	rewritten, err := rewrite(m, plugins.Limits{}.Effective(), nil)
	if err != nil {
		t.Fatal(err)
	}
	after, err := binary.Decode(rewritten)
	if err != nil {
		t.Fatal(err)
	}
	share := uint32(binary.MaxTableEntries / 3)
	for i, want := range []binary.Limits{{Min: 5, Max: share, HasMax: true}, {Min: 1, Max: 9, HasMax: true},
		{Min: binary.MaxTableEntries / 2, Max: binary.MaxTableEntries / 2, HasMax: true}} {
		if after.Tables[i].Limits != want {
			t.Errorf("table %d: %+v, want %+v", i, after.Tables[i].Limits, want)
		}
	}
}

// The tables of a module without a memory are limited, too.
func TestTablesWithoutAMemoryAreLimited(t *testing.T) {
	m, problem := binary.Decode(append([]byte("\x00asm\x01\x00\x00\x00"), 4, 4, 1, 0x70, 0, 5))
	if problem != nil {
		t.Fatal(problem)
	}
	rewritten, err := rewrite(m, plugins.Limits{}.Effective(), nil)
	if err != nil {
		t.Fatal(err)
	}
	after, problem := binary.Decode(rewritten)
	if problem != nil {
		t.Fatal(problem)
	}
	if want := (binary.Limits{Min: 5, Max: binary.MaxTableEntries, HasMax: true}); len(after.Tables) != 1 || after.Tables[0].Limits != want {
		t.Errorf("%+v, want %+v", after.Tables, want)
	}
}

// The runtime would read the names of functions, and believe their number.
func TestCustomSectionsDoNotReachTheRuntime(t *testing.T) {
	g := Echo("hello")
	names := Join([]byte{1}, Counted(Join(Number(2_000_000_000), []byte{0, 1, 'x'})))
	g.Raw = map[byte][]byte{0: Join(Counted([]byte("name")), names)}
	reply, err := start(t, g.Bytes(), plugins.Limits{}).Call(t.Context(), plugins.Convert, []byte("{}"))
	if err != nil || string(reply) != "hello" {
		t.Errorf("%q, %v", reply, err)
	}
}
