package meter

import "github.com/wasmgate/wasmgate/plugins/wasm/binary"

// piece is how many bytes are filled or copied at once. Nothing stops a guest in
// the middle of an instruction, and 64 MB take tens of milliseconds.
const piece = 1 << 20

// pieces are instructions that functions of the module's own do instead, piece by
// piece, and ask for more between. Only a module with a memory has them.
var pieces = []struct {
	op   binary.Opcode
	body func(w *writer) []byte
}{
	{opMemoryFill, (*writer).fill},
	{opMemoryCopy, (*writer).copy},
}

// helpers is how many functions a module gets for them.
func (w *writer) helpers() uint32 {
	if len(w.m.Memories) == 0 {
		return 0
	}
	return uint32(len(pieces))
}

// helper is the function that does an instruction, which is the last one's
// successor; ok is false where there is none.
func (w *writer) helper(op binary.Opcode) (index uint32, ok bool) {
	for n, p := range pieces {
		if p.op == op {
			return 1 + w.functions + w.imported + uint32(n), true
		}
	}
	return 0, false
}

// The parameters of both: to where, what or from where, and how much.
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

// copy copies from the end that is not overwritten meanwhile.
func (w *writer) copy() []byte {
	up := pieceOf(sized(sized(nil, paramTo, 0), paramFrom, 0))
	up = append(up, memoryCopy...)
	up = move(move(move(up, paramTo, piece), paramFrom, piece), paramSize, -piece)

	down := move(nil, paramSize, -piece)
	for _, param := range []uint32{paramTo, paramFrom} {
		down = append(sized(sized(down, param, 0), paramSize, 0), opI32Add)
	}
	down = append(pieceOf(down), memoryCopy...)

	dst := append(sized(sized([]byte{0}, paramTo, 0), paramFrom, 0), opI32LeU, opIf, blockEmpty)
	dst = append(w.while(dst, up), opElse)
	dst = append(w.while(dst, down), opEnd)
	dst = sized(sized(sized(dst, paramTo, 0), paramFrom, 0), paramSize, 0)
	return append(append(dst, memoryCopy...), opEnd)
}
