package wasi

import "encoding/binary"

// program is the only argument, the name of the program: libraries of several languages
// look at it without asking whether it is there.
const program = "module\x00"

func argumentSizes(g Guest, a []uint64) Errno {
	return put(g, a[0], 4, 1, put(g, a[1], 4, uint64(len(program)), Success))
}

// arguments writes where each argument is, and then what it is, to two places.
func arguments(g Guest, a []uint64) Errno {
	room, ok := g.Read(uint32(a[1]), uint32(len(program)))
	if !ok {
		return Fault
	}
	pointer, ok := g.Read(uint32(a[0]), 4)
	if !ok {
		return Fault
	}
	copy(room, program)
	binary.LittleEndian.PutUint32(pointer, uint32(a[1]))
	return Success
}
