package meter

import "github.com/wasmgate/wasmgate/plugins/wasm/binary"

// maxBranches is how many branches of a module are marked, besides the beginnings of
// its functions: a table entry takes 8 bytes in every instance. Of a function for
// which there is no room left only the beginning is.
const maxBranches = 1 << 18

// atOnce is how many branches [Taken] tells of at once.
const atOnce = 64

// Branches are those of a module that are marked, by number: first the beginnings of
// its functions, then what is in them.
type Branches struct {
	// Inside is where the numbers of what is in each function begin, and at last
	// where they end.
	Inside []int
}

// Functions is how many functions there are.
func (b *Branches) Functions() int { return len(b.Inside) - 1 }

// All is how many branches there are.
func (b *Branches) All() int { return b.Inside[len(b.Inside)-1] }

// Tables is the table section of a module, whose content is given, with one more,
// which no instruction of the module's own can name.
func (b *Branches) Tables(content []byte) []byte {
	old := cursor{content}
	dst := append(binary.AppendU32(nil, old.u32()+1), old.rest...)
	size := uint32(b.All()+atOnce-1) / atOnce * atOnce
	return binary.AppendU32(binary.AppendU32(append(dst, binary.FuncRef, 1), size), size)
}

// marker marks the branches of one function.
type marker struct {
	w         *writer // nil where nothing is marked
	next, end int     // the numbers that there are for branches
	opened    []byte  // which blocks are open
}

func (w *writer) marks(function int) *marker {
	if w.branches == nil {
		return &marker{}
	}
	return &marker{w: w, next: w.branches.Inside[function], end: w.branches.Inside[function+1]}
}

// begin appends the mark of the beginning of a function.
func (k *marker) begin(dst []byte, function int) []byte {
	if k.w == nil {
		return dst
	}
	return k.mark(dst, function)
}

// append appends the next mark.
func (k *marker) append(dst []byte) []byte {
	if k.next == k.end {
		return dst
	}
	k.next++
	return k.mark(dst, k.next-1)
}

// mark makes an entry of the table one that is not null.
func (k *marker) mark(dst []byte, branch int) []byte {
	dst = appendSigned(append(dst, opI32Const), int64(branch))
	dst = binary.AppendU32(append(dst, opGlobalGet), k.w.changed+1)
	return binary.AppendU32(append(dst, opTableSet), uint32(len(k.w.m.Tables)))
}

// after tells whether an instruction is one that another branch begins behind: what
// is run, or run again, depends on a condition, or it is jumped to.
func (k *marker) after(in *binary.Instruction) bool {
	switch in.Op {
	case opBlock, opLoop, opIf:
		k.opened = append(k.opened[:in.Depth-1], byte(in.Op))
		return in.Op != opBlock
	case opElse, opBrIf:
		return true
	case opEnd:
		return in.Depth > 1 && k.opened[in.Depth-2] == opBlock
	}
	return false
}

// FindBranches numbers the branches of a module.
func FindBranches(m *binary.Module) (*Branches, error) {
	b := &Branches{Inside: []int{len(m.Bodies)}}
	var room binary.Code
	for _, body := range m.Bodies {
		var k marker
		n := 0
		c := m.Code(body, &room)
		for in, ok := c.Next(); ok; in, ok = c.Next() {
			if k.after(in) {
				n++
			}
		}
		if err := c.Err(); err != nil {
			return nil, err
		}
		last := b.All()
		if last+n > len(m.Bodies)+maxBranches {
			n = 0
		}
		b.Inside = append(b.Inside, last+n)
	}
	return b, nil
}

// taken is the function [Taken].
func (w *writer) taken() []byte {
	const from, bits, n = 0, 1, 2
	table := uint32(len(w.m.Tables))
	dst := []byte{1, 2, binary.I64, opLoop, blockEmpty, opLocalGet, from}
	dst = binary.AppendU32(append(dst, opTableGet), table)
	dst = append(dst, opRefIsNull, opI32Eqz, opIf, blockEmpty, opLocalGet, from, opRefNull, binary.FuncRef)
	dst = binary.AppendU32(append(dst, opTableSet), table)
	dst = append(dst, opLocalGet, bits, opI64Const, 1, opLocalGet, n, opI64Shl, opI64Or, opLocalSet, bits, opEnd)
	dst = append(dst, opLocalGet, from, opI32Const, 1, opI32Add, opLocalSet, from)
	dst = append(dst, opLocalGet, n, opI64Const, 1, opI64Add, opLocalTee, n)
	dst = append(appendSigned(append(dst, opI64Const), atOnce), opI64LtS, opBrIf, 0, opEnd)
	return append(dst, opLocalGet, bits, opEnd)
}
