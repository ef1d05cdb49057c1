package wasm

import (
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// pageBytes is the unit of linear memory.
const pageBytes = 64 << 10

// transform makes the new content of one section of a module that was read and
// verified. It changes nothing that it is given. Charging for instructions is
// going to be one of these.
type transform struct {
	section binary.SectionID
	content func(m *binary.Module, limits plugins.Limits) ([]byte, error)
}

// transforms are all that is changed in a module before it is compiled; each
// replaces another section.
var transforms = []transform{
	{binary.MemorySection, limitMemory},
	{binary.TableSection, limitTables},
	{binary.CodeSection, checkCalls},
}

// rewrite applies the transforms, and leaves out custom sections, which nobody
// needs to run the module.
func rewrite(m *binary.Module, limits plugins.Limits) ([]byte, error) {
	replaced := map[binary.SectionID][]byte{}
	for _, t := range transforms {
		if m.Content(t.section) == nil {
			continue
		}
		content, err := t.content(m, limits)
		if err != nil {
			return nil, err
		}
		replaced[t.section] = content
	}
	return m.Assemble(replaced), nil
}

// limitMemory sets the maximum of the module's memory to the limit, or leaves
// a lower one. wazero's own limit holds for a whole runtime; this one is per
// module. memory.grow beyond it fails inside the guest.
func limitMemory(m *binary.Module, limits plugins.Limits) ([]byte, error) {
	pages := uint32(limits.MemoryBytes / pageBytes)
	content := []byte{byte(len(m.Memories))}
	for _, l := range m.Memories { // one, as none is imported
		if l.Min > pages {
			return nil, refusal(plugins.MemoryLimit, "its memory starts with %d bytes, more than its limit of %d", uint64(l.Min)*pageBytes, limits.MemoryBytes)
		}
		content = appendLimits(content, l, pages)
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

// checkCalls puts an empty loop at the start of every function. wazero looks
// at the deadline in loops only, so that recursion without a loop, which can
// take longer than the universe lasts in a few frames of stack, would never
// end.
func checkCalls(m *binary.Module, _ plugins.Limits) ([]byte, error) {
	emptyLoop := []byte{0x03, 0x40, 0x0b}
	content := make([]byte, 0, len(m.Content(binary.CodeSection))+len(m.Bodies)*(len(emptyLoop)+1))
	content = binary.AppendU32(content, uint32(len(m.Bodies)))
	for _, b := range m.Bodies {
		content = binary.AppendU32(content, uint32(b.End-b.Start+len(emptyLoop)))
		content = append(content, m.Bytes[b.Start:b.Code]...)
		content = append(content, emptyLoop...)
		content = append(content, m.Bytes[b.Code:b.End]...)
	}
	return content, nil
}
