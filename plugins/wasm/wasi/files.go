package wasi

import "encoding/binary"

// The files that there are.
const (
	standardInput = iota
	standardOutput
	standardError
	afterLast
)

// maxVectors is how many pieces one call may read or write, as on Linux.
const maxVectors = 1024

// vectorWork is what one of them, or one that is waited for, is charged.
const vectorWork = 20

func standard(fd uint64) Errno {
	if uint32(fd) < afterLast {
		return Success
	}
	return BadFile
}

func noSeek(fd uint64) Errno {
	if standard(fd) == Success {
		return NoSeek
	}
	return BadFile
}

// characterDevice is what the standard files are.
const characterDevice = 2

// The rights to files.
const (
	mayRead  = 1 << 1
	mayWrite = 1 << 6
)

func fileState(g Guest, a []uint64) Errno {
	if e := standard(a[0]); e != Success {
		return e
	}
	room, ok := g.Read(uint32(a[1]), 24)
	if !ok {
		return Fault
	}
	clear(room)
	room[0], room[8] = characterDevice, mayWrite
	if uint32(a[0]) == standardInput {
		room[8] = mayRead
	}
	return Success
}

func fileStatus(g Guest, a []uint64) Errno {
	if e := standard(a[0]); e != Success {
		return e
	}
	room, ok := g.Read(uint32(a[1]), 64)
	if !ok {
		return Fault
	}
	clear(room)
	room[16] = characterDevice
	return Success
}

// read reads standard input, which is at its end.
func read(g Guest, a []uint64) Errno {
	if uint32(a[0]) != standardInput {
		return BadFile
	}
	return put(g, a[3], 4, 0, Success)
}

// write writes to standard error, which is the log, or standard output, which is
// nothing.
func write(g Guest, a []uint64) Errno {
	fd, count := uint32(a[0]), uint32(a[2])
	if fd != standardOutput && fd != standardError {
		return BadFile
	}
	if count > maxVectors {
		return Invalid
	}
	vectors, ok := g.Read(uint32(a[1]), 8*count)
	if !ok {
		return Fault
	}
	g.Charge(vectorWork * int64(count))
	written := uint32(0)
	for ; len(vectors) > 0; vectors = vectors[8:] {
		at, size := binary.LittleEndian.Uint32(vectors), binary.LittleEndian.Uint32(vectors[4:])
		text, ok := g.Read(at, size)
		if !ok {
			return Fault
		}
		if fd == standardError {
			g.Log(text)
		}
		written += size
	}
	return put(g, a[3], 4, uint64(written), Success)
}
