// Package wasi owns what a guest gets of WASI preview 1: all of its functions, so
// that what compilers emit can be linked, and behind them no files, environment or
// sockets, one argument that is the same for all, a clock that moves only when the guest sleeps, random
// numbers of whoever calls it, and a log.
//
// It must not know the runtime, nor what a guest is for; plugins/wasm calls it.
//
// Its functions keep nothing: what a guest closes, renumbers or sets stays as it
// was, so that no call can tell what one before it did. What a function takes is
// bounded, or charged before it is done.
package wasi

import "encoding/binary"

// Guest is whoever calls a function: its memory and what it sees of the world.
type Guest interface {
	// Read is a view of the guest's memory, good until the function returns.
	Read(at, size uint32) (view []byte, ok bool)
	// Charge books work that is about to be done, in the units that instructions
	// are charged in. It does not return when the call is over.
	Charge(work int64)
	// Exit ends the call, and does not return.
	Exit(code uint32)
	// World is what the guest sees.
	World
}

// World is what there is outside of a guest.
type World interface {
	// Log takes what is written to standard error; it may drop some.
	Log(text []byte)
	// Random fills room with random numbers.
	Random(room []byte)
	// Now is the time of day in nanoseconds since 1970.
	Now() int64
	// Elapsed is the time of a clock that only goes forward, in nanoseconds.
	Elapsed() int64
	// Sleep moves the clock that goes forward, and does not wait.
	Sleep(nanoseconds int64)
}

// Function is one function of WASI.
type Function struct {
	Name string
	// Params are its parameters: i for i32 and I for i64. It returns an Errno
	// unless it is proc_exit, which does not return.
	Params string
	// Call runs it with as many arguments.
	Call func(g Guest, args []uint64) Errno
}

// Returns reports whether the function has a result.
func (f Function) Returns() bool { return f.Name != "proc_exit" }

// Errno is how a function ended.
type Errno uint32

// The numbers that are used here, as the interface has them.
const (
	Success  Errno = 0
	BadFile  Errno = 8
	Fault    Errno = 21
	Invalid  Errno = 28
	NoSystem Errno = 52
	NoSeek   Errno = 70
)

// Functions are all of them.
func Functions() []Function { return append(real(), imagined()...) }

// imagined are those that are about what is not there.
func imagined() []Function {
	var all []Function
	answer := func(e Errno, names map[string]string) {
		for name, params := range names {
			all = append(all, Function{name, params, func(Guest, []uint64) Errno { return e }})
		}
	}
	answer(BadFile, map[string]string{
		"fd_advise": "iIIi", "fd_allocate": "iII", "fd_datasync": "i", "fd_fdstat_set_rights": "iII",
		"fd_filestat_set_size": "iI", "fd_filestat_set_times": "iIIi", "fd_pread": "iiiIi",
		"fd_prestat_dir_name": "iii", "fd_prestat_get": "ii", "fd_pwrite": "iiiIi", "fd_readdir": "iiiIi",
		"fd_renumber": "ii", "fd_sync": "i",
		"path_create_directory": "iii", "path_filestat_get": "iiiii", "path_filestat_set_times": "iiiiIIi",
		"path_link": "iiiiiii", "path_open": "iiiiiIIii", "path_readlink": "iiiiii", "path_remove_directory": "iii",
		"path_rename": "iiiiii", "path_symlink": "iiiii", "path_unlink_file": "iii",
		"sock_accept": "iii", "sock_recv": "iiiiii", "sock_send": "iiiii", "sock_shutdown": "ii",
	})
	answer(NoSystem, map[string]string{"proc_raise": "i"})
	answer(Success, map[string]string{"sched_yield": "", "environ_get": "ii"})
	return all
}

// real are those that do something.
func real() []Function {
	none := func(g Guest, a []uint64) Errno { return put(g, a[0], 4, 0, put(g, a[1], 4, 0, Success)) }
	return []Function{
		{"args_get", "ii", arguments},
		{"args_sizes_get", "ii", argumentSizes},
		{"environ_sizes_get", "ii", none},
		{"clock_res_get", "ii", clockResolution},
		{"clock_time_get", "iIi", clockTime},
		{"fd_close", "i", func(_ Guest, a []uint64) Errno { return standard(a[0]) }},
		{"fd_fdstat_get", "ii", fileState},
		{"fd_fdstat_set_flags", "ii", func(_ Guest, a []uint64) Errno { return standard(a[0]) }},
		{"fd_filestat_get", "ii", fileStatus},
		{"fd_read", "iiii", read},
		{"fd_seek", "iIii", func(_ Guest, a []uint64) Errno { return noSeek(a[0]) }},
		{"fd_tell", "ii", func(_ Guest, a []uint64) Errno { return noSeek(a[0]) }},
		{"fd_write", "iiii", write},
		{"poll_oneoff", "iiii", poll},
		{"proc_exit", "i", func(g Guest, a []uint64) Errno { g.Exit(uint32(a[0])); return Success }},
		{"random_get", "ii", random},
	}
}

// put writes a number of some bytes to a place, unless there was an error before.
func put(g Guest, at uint64, size uint32, n uint64, before Errno) Errno {
	room, ok := g.Read(uint32(at), size)
	switch {
	case before != Success:
		return before
	case !ok:
		return Fault
	}
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], n)
	copy(room, all[:])
	return Success
}

// The clocks.
const (
	realtime  = 0
	monotonic = 1
)

func clockResolution(g Guest, a []uint64) Errno {
	switch uint32(a[0]) {
	case realtime:
		return put(g, a[1], 8, 1000, Success)
	case monotonic:
		return put(g, a[1], 8, 1, Success)
	}
	return Invalid
}

func clockTime(g Guest, a []uint64) Errno {
	now, ok := clock(g, uint32(a[0]))
	if !ok {
		return Invalid
	}
	return put(g, a[2], 8, uint64(now), Success)
}

func clock(g Guest, id uint32) (now int64, ok bool) {
	switch id {
	case realtime:
		return g.Now(), true
	case monotonic:
		return g.Elapsed(), true
	}
	return 0, false
}

// randomSlice is how many random bytes are made between two looks at the clock.
const randomSlice = 64 << 10

func random(g Guest, a []uint64) Errno {
	room, ok := g.Read(uint32(a[0]), uint32(a[1]))
	if !ok {
		return Fault
	}
	for len(room) > 0 {
		n := min(len(room), randomSlice)
		g.Charge(int64(n / 2))
		g.Random(room[:n])
		room = room[n:]
	}
	return Success
}
