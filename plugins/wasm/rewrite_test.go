package wasm

import (
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
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
		rewritten, err := rewrite(before, limits)
		if err != nil {
			return
		}
		after, err := binary.Decode(rewritten)
		if err != nil || len(after.Bodies) != len(before.Bodies)+before.Imported(binary.Func) {
			t.Fatalf("made a module that cannot be read: %v", err)
		}
		if l := after.Memories[0]; !l.HasMax || l.Max > 32 || l.Min != before.Memories[0].Min {
			t.Fatalf("memory %+v", l)
		}
		for i, l := range after.Tables {
			if !l.HasMax || l.Max > binary.MaxTableEntries || l.Min != before.Tables[i].Min || l.Elem != before.Tables[i].Elem {
				t.Fatalf("table %+v", l)
			}
		}
	})
}
