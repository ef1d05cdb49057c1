package meter

import "github.com/wasmgate/wasmgate/plugins/wasm/binary"

// piece is how many bytes are filled or copied at once. Nothing stops a guest in
// the middle of an instruction, and 64 MB take tens of milliseconds.
const piece = 1 << 20

// long is an instruction that a function of the module's own does instead, piece by
// piece, asking for more between.
type long struct {
	op binary.Opcode
	// segment is of which segment memory.init copies.
	segment uint32
	body    []byte
}

// findLong finds those of the module: filling and copying its memory, and copying
// of segments that are longer than a piece.
func (w *writer) findLong() {
	if len(w.m.Memories) == 0 {
		return
	}
	w.long = []long{{op: opMemoryFill, body: w.fill()}, {op: opMemoryCopy, body: w.copy()}}
	for n, d := range w.m.Data {
		if w.m.HasDataCount && len(d.Bytes) > piece {
			w.long = append(w.long, long{op: opMemoryInit, segment: uint32(n), body: w.init(uint32(n))})
		}
	}
}

// helper is the function that does an instruction; ok is false where there is
// none.
func (w *writer) helper(in *binary.Instruction) (index uint32, ok bool) {
	for n, l := range w.long {
		if l.op == in.Op && l.segment == in.Index {
			return 1 + w.functions + w.imported + uint32(n), true
		}
	}
	return 0, false
}

// The parameters of all: to where, what or from where, and how much.
const (
	paramTo = iota
	paramFrom
	paramSize
)

// sized appends an operand: a parameter, and a difference to it if that is not 0.
func sized(dst []byte, param uint32, more int64) []byte {
	dst = binary.AppendU32(append(dst, opLocalGet), param)
	if more == 0 {
		return dst
	}
	return append(appendSigned(append(dst, opI32Const), more), opI32Add)
}

// move appends the change of a parameter.
func move(dst []byte, param uint32, by int64) []byte {
	return binary.AppendU32(append(sized(dst, param, by), opLocalSet), param)
}

// while appends a loop that goes on while there is more than a piece.
func (w *writer) while(dst, body []byte) []byte {
	dst = append(dst, opBlock, blockEmpty, opLoop, blockEmpty)
	dst = appendSigned(append(sized(dst, paramSize, 0), opI32Const), piece)
	dst = append(append(dst, opI32LeU, opBrIf, 1), body...)
	dst = binary.AppendU32(append(dst, opGlobalGet), w.fuel)
	dst = binary.AppendU32(append(dst, opCall, 0, opGlobalSet), w.fuel)
	return append(dst, opBr, 0, opEnd, opEnd)
}

// pieceOf appends the size of a piece.
func pieceOf(dst []byte) []byte { return appendSigned(append(dst, opI32Const), piece) }

var (
	memoryFill = []byte{0xfc, 11, 0}
	memoryCopy = []byte{0xfc, 10, 0, 0}
)

func (w *writer) fill() []byte {
	body := pieceOf(sized(sized(nil, paramTo, 0), paramFrom, 0))
	body = append(body, memoryFill...)
	body = move(move(body, paramTo, piece), paramSize, -piece)
	dst := w.while([]byte{0}, body) // no locals
	dst = sized(sized(sized(dst, paramTo, 0), paramFrom, 0), paramSize, 0)
	return append(append(dst, memoryFill...), opEnd)
}

// init copies of a segment, which nothing overlaps.
func (w *writer) init(segment uint32) []byte {
	op := append(binary.AppendU32([]byte{0xfc, 8}, segment), 0)
	dst := w.while([]byte{0}, forward(op))
	dst = sized(sized(sized(dst, paramTo, 0), paramFrom, 0), paramSize, 0)
	return append(append(dst, op...), opEnd)
}

// forward is a piece at the beginning, and goes on to what is behind it.
func forward(op []byte) []byte {
	body := append(pieceOf(sized(sized(nil, paramTo, 0), paramFrom, 0)), op...)
	return move(move(move(body, paramTo, piece), paramFrom, piece), paramSize, -piece)
}

// copy copies from the end that is not overwritten meanwhile.
func (w *writer) copy() []byte {
	down := move(nil, paramSize, -piece)
	for _, param := range []uint32{paramTo, paramFrom} {
		down = append(sized(sized(down, param, 0), paramSize, 0), opI32Add)
	}
	down = append(pieceOf(down), memoryCopy...)

	dst := append(sized(sized([]byte{0}, paramTo, 0), paramFrom, 0), opI32LeU, opIf, blockEmpty)
	dst = append(w.while(dst, forward(memoryCopy)), opElse)
	dst = append(w.while(dst, down), opEnd)
	dst = sized(sized(sized(dst, paramTo, 0), paramFrom, 0), paramSize, 0)
	return append(append(dst, memoryCopy...), opEnd)
}
