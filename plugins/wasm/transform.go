package wasm

import (
	"encoding/binary"

	"github.com/wasmgate/wasmgate/plugins"
)

// pageBytes is the unit of linear memory.
const pageBytes = 64 << 10

// Transform rewrites a verified module before it is compiled. It gets what it
// needs to know of the module and returns new bytes, never changing the old
// ones. Charging for instructions is going to be one of these.
type Transform struct {
	Name  string
	Apply func(module []byte, limits plugins.Limits) ([]byte, error)
}

// transforms are applied in this order.
var transforms = []Transform{
	{Name: "limit memory", Apply: limitMemory},
	{Name: "limit tables", Apply: limitTables},
	{Name: "check calls", Apply: checkCalls},
}

// replaceSection returns the module with the body of one section replaced.
func replaceSection(module []byte, old section, body []byte) []byte {
	out := make([]byte, 0, len(module)-len(old.body)+len(body)+8)
	out = append(out, module[:old.start]...)
	out = append(out, old.id)
	out = binary.AppendUvarint(out, uint64(len(body)))
	out = append(out, body...)
	return append(out, module[old.end:]...)
}

// limitMemory sets the maximum of the module's memory to the limit, or leaves
// a lower one. wazero's own limit holds for a whole runtime; this one is per
// module. memory.grow beyond it fails inside the guest.
func limitMemory(module []byte, limits plugins.Limits) ([]byte, error) {
	in, err := inspect(module)
	if err != nil {
		return nil, err
	}
	pages := uint32(limits.MemoryBytes / pageBytes)
	m := in.memory
	if m == nil {
		return module, nil
	}
	if m.min > pages {
		return nil, refusal(plugins.MemoryLimit, "its memory starts with %d bytes, more than its limit of %d", uint64(m.min)*pageBytes, limits.MemoryBytes)
	}
	if m.bounded && m.max < pages {
		pages = m.max
	}
	body := []byte{1, 1} // one memory, with a maximum
	body = binary.AppendUvarint(body, uint64(m.min))
	body = binary.AppendUvarint(body, uint64(pages))
	return replaceSection(module, in.sections[m.section], body), nil
}

// maxTableEntries is the largest table; compilers make one entry for each
// function whose address is taken.
const maxTableEntries = 1 << 20

// limitTables does for tables, which take the gateway's memory too, what
// limitMemory does for memory.
func limitTables(module []byte, _ plugins.Limits) ([]byte, error) {
	secs, err := sections(module)
	if err != nil {
		return nil, err
	}
	for _, s := range secs {
		if s.id != sectionTable {
			continue
		}
		r := &reader{data: s.body}
		n := r.u32()
		if n > 16 {
			return nil, refusal(plugins.MemoryLimit, "it has %d tables, more than 16", n)
		}
		body := binary.AppendUvarint(nil, uint64(n))
		for ; n > 0 && r.err == nil; n-- {
			body = append(body, r.byte(), 1)
			_, low, high, bounded := r.limits()
			if low > maxTableEntries {
				return nil, refusal(plugins.MemoryLimit, "a table of it starts with %d entries, more than %d", low, maxTableEntries)
			}
			if !bounded || high > maxTableEntries {
				high = maxTableEntries
			}
			body = binary.AppendUvarint(body, uint64(low))
			body = binary.AppendUvarint(body, uint64(high))
		}
		if r.err != nil || r.pos != len(s.body) {
			return nil, refusal(plugins.Malformed, "its table section cannot be read")
		}
		return replaceSection(module, s, body), nil
	}
	return module, nil
}

// checkCalls puts an empty loop at the start of every function. wazero looks
// at the deadline in loops only, so that recursion without a loop, which can
// take longer than the universe lasts in a few frames of stack, would never
// end.
func checkCalls(module []byte, _ plugins.Limits) ([]byte, error) {
	secs, err := sections(module)
	if err != nil {
		return nil, err
	}
	emptyLoop := []byte{0x03, 0x40, 0x0b}
	for _, s := range secs {
		if s.id != sectionCode {
			continue
		}
		r := &reader{data: s.body}
		n := r.u32()
		body := make([]byte, 0, len(s.body)+int(min(n, 1<<20))*4)
		body = binary.AppendUvarint(body, uint64(n))
		for ; n > 0 && r.err == nil; n-- {
			code := r.bytes()
			f := &reader{data: code}
			for locals := f.u32(); locals > 0 && f.err == nil; locals-- {
				f.u32()
				f.byte()
			}
			if f.err != nil {
				return nil, refusal(plugins.Malformed, "the locals of a function of it cannot be read")
			}
			body = binary.AppendUvarint(body, uint64(len(code)+len(emptyLoop)))
			body = append(body, code[:f.pos]...)
			body = append(body, emptyLoop...)
			body = append(body, code[f.pos:]...)
		}
		if r.err != nil || r.pos != len(s.body) {
			return nil, refusal(plugins.Malformed, "its code section cannot be read")
		}
		return replaceSection(module, s, body), nil
	}
	return module, nil
}
