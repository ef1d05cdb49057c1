package wasm

import (
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// pageBytes is the unit of linear memory.
const pageBytes = 64 << 10

// transform makes the new content of one section of a module that was read and
// verified. It changes nothing that it is given.
type transform struct {
	section binary.SectionID
	content func(m *binary.Module, limits plugins.Limits) ([]byte, error)
}

// transforms are what is changed in a module before it is compiled, besides the
// sections that plugins/wasm/meter makes; each replaces another section.
var transforms = []transform{
	{binary.MemorySection, limitMemory},
	{binary.TableSection, limitTables},
}

// rewrite applies the transforms, meters the module, and leaves out custom
// sections, which nobody needs to run it. Its branches are marked if there are any.
func rewrite(m *binary.Module, limits plugins.Limits, branches *meter.Branches) ([]byte, error) {
	replaced, err := meter.Sections(m, branches)
	if err != nil {
		return nil, unreadable(err)
	}
	for _, t := range transforms {
		if m.Content(t.section) == nil {
			continue
		}
		if replaced[t.section], err = t.content(m, limits); err != nil {
			return nil, err
		}
	}
	if branches != nil {
		replaced[binary.TableSection] = branches.Tables(replaced[binary.TableSection])
	}
	return m.Assemble(replaced), nil
}

// limitMemory sets the maximum of the module's memory to the limit or a lower one
// of its own, and one page: by asking for a page more than there is, and getting
// less, memory is made short again (memory.go), which never gives that page to
// the guest. wazero's own limit holds for a whole runtime; this one is per module.
// memory.grow beyond it fails inside the guest.
func limitMemory(m *binary.Module, limits plugins.Limits) ([]byte, error) {
	pages := uint32(limits.MemoryBytes / pageBytes)
	content := []byte{byte(len(m.Memories))}
	for _, l := range m.Memories { // one, as none is imported
		if l.Min > pages {
			return nil, refusal(plugins.MemoryLimit, "its memory starts with %d bytes, more than its limit of %d", uint64(l.Min)*pageBytes, limits.MemoryBytes)
		}
		if l.HasMax {
			pages = min(pages, l.Max)
		}
		content = appendLimits(content, binary.Limits{Min: l.Min}, pages+1)
	}
	return content, nil
}

// limitTables does for tables, which take the gateway's memory too, what
// limitMemory does for memory: they share what all may have.
func limitTables(m *binary.Module, _ plugins.Limits) ([]byte, error) {
	content := binary.AppendU32(nil, uint32(len(m.Tables)))
	for _, t := range m.Tables {
		most := max(t.Min, uint32(binary.MaxTableEntries/len(m.Tables)))
		content = appendLimits(append(content, t.Elem), t.Limits, most)
	}
	return content, nil
}

// appendLimits appends a minimum with a maximum of most or less.
func appendLimits(dst []byte, l binary.Limits, most uint32) []byte {
	if l.HasMax {
		most = min(most, l.Max)
	}
	dst = append(dst, 1) // there is a maximum
	return binary.AppendU32(binary.AppendU32(dst, l.Min), most)
}
