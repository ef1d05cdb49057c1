package wasi

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// guest is memory, and a world that notes what happens.
type guest struct {
	memory  []byte
	logged  bytes.Buffer
	slept   int64
	charged int64
	exited  []uint32
}

func (g *guest) Read(at, size uint32) ([]byte, bool) {
	if uint64(at)+uint64(size) > uint64(len(g.memory)) {
		return nil, false
	}
	return g.memory[at : at+size], true
}
func (g *guest) Charge(work int64)  { g.charged += work }
func (g *guest) Log(text []byte)    { g.logged.Write(text) }
func (g *guest) Random(room []byte) { copy(room, bytes.Repeat([]byte{7}, len(room))) }
func (g *guest) Now() int64         { return 1_000_000 }
func (g *guest) Elapsed() int64     { return g.slept }
func (g *guest) Sleep(n int64)      { g.slept += n }
func (g *guest) Exit(code uint32)   { g.exited = append(g.exited, code) }

func (g *guest) u32(at int) uint32 { return binary.LittleEndian.Uint32(g.memory[at:]) }
func (g *guest) u64(at int) uint64 { return binary.LittleEndian.Uint64(g.memory[at:]) }

func (g *guest) put(at int, numbers ...uint32) {
	for n, v := range numbers {
		binary.LittleEndian.PutUint32(g.memory[at+4*n:], v)
	}
}

// subscribe puts a subscription at a place.
func (g *guest) subscribe(at int, userdata uint64, what byte, clockOrFile uint32, timeout uint64, absolute byte) {
	binary.LittleEndian.PutUint64(g.memory[at:], userdata)
	g.memory[at+8] = what
	g.put(at+16, clockOrFile)
	binary.LittleEndian.PutUint64(g.memory[at+24:], timeout)
	g.memory[at+40] = absolute
}

func (g *guest) call(t *testing.T, name string, args ...uint64) Errno {
	t.Helper()
	for _, f := range Functions() {
		if f.Name == name {
			if len(f.Params) != len(args) {
				t.Fatalf("%s takes %d arguments", name, len(f.Params))
			}
			return f.Call(g, args)
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

func newGuest() *guest { return &guest{memory: bytes.Repeat([]byte{0xff}, 1<<17)} }

func TestEachFunctionIsThereOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Functions() {
		if seen[f.Name] || strings.Trim(f.Params, "iI") != "" || f.Call == nil {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
	}
	if len(seen) != 46 {
		t.Errorf("there are %d functions", len(seen))
	}
}

// Whatever numbers a guest sends, nothing panics, and no answer is outside of what
// the interface knows.
func TestAnyArguments(t *testing.T) {
	numbers := []uint64{0, 1, 2, 3, 8, 1 << 16, 1<<17 - 1, 1 << 17, math.MaxInt32, math.MaxUint32, 1 << 40, math.MaxUint64}
	for _, f := range Functions() {
		for n := range 300 {
			g, args := newGuest(), make([]uint64, len(f.Params))
			for i := range args {
				args[i] = numbers[(n*(i*7+1)+n/12*i)%len(numbers)]
			}
			if e := f.Call(g, args); e > 76 {
				t.Errorf("%s%v = %d", f.Name, args, e)
			}
			if g.charged > 1<<16 || g.charged < 0 {
				t.Errorf("%s%v costs %d", f.Name, args, g.charged)
			}
		}
	}
}

func TestWriting(t *testing.T) {
	g := newGuest()
	copy(g.memory[100:], "hello world")
	g.put(0, 100, 6, 106, 5)
	if e := g.call(t, "fd_write", 2, 0, 2, 50); e != Success || g.logged.String() != "hello world" || g.u32(50) != 11 {
		t.Errorf("%d, logged %q, wrote %d", e, &g.logged, g.u32(50))
	}
	g.logged.Reset()
	if e := g.call(t, "fd_write", 1, 0, 2, 50); e != Success || g.logged.Len() != 0 || g.u32(50) != 11 {
		t.Errorf("standard output: %d, logged %q, wrote %d", e, &g.logged, g.u32(50))
	}
	for _, c := range []struct {
		fd, at, count, to uint64
		want              Errno
	}{{0, 0, 2, 50, BadFile}, {3, 0, 2, 50, BadFile}, {2, 0, maxVectors + 1, 50, Invalid}, {2, 1 << 17, 1, 50, Fault}, {2, 0, 2, 1 << 17, Fault}, {2, 60, 1, 50, Fault}} {
		if e := g.call(t, "fd_write", c.fd, c.at, c.count, c.to); e != c.want {
			t.Errorf("%+v: %d", c, e)
		}
	}
}

// What a guest closes or renumbers is there for the next call as it was.
func TestFilesKeepNothing(t *testing.T) {
	g := newGuest()
	for fd, want := range map[uint64]Errno{0: Success, 2: Success, 3: BadFile} {
		if e := g.call(t, "fd_close", fd); e != want {
			t.Errorf("closing %d: %d", fd, e)
		}
	}
	if e := g.call(t, "fd_renumber", 1, 2); e != BadFile {
		t.Errorf("renumbering: %d", e)
	}
	copy(g.memory[100:], "x")
	g.put(0, 100, 1)
	if e := g.call(t, "fd_write", 2, 0, 1, 50); e != Success || g.logged.String() != "x" {
		t.Errorf("after closing: %d, %q", e, &g.logged)
	}
	if e := g.call(t, "fd_read", 0, 0, 1, 50); e != Success || g.u32(50) != 0 {
		t.Errorf("reading: %d, %d bytes", e, g.u32(50))
	}
	if e := g.call(t, "fd_fdstat_get", 2, 0); e != Success || g.memory[0] != characterDevice || g.memory[8] != mayWrite {
		t.Errorf("the state of standard error: %d, %v", e, g.memory[:24])
	}
	if e := g.call(t, "environ_sizes_get", 0, 4); e != Success || g.u64(0) != 0 {
		t.Errorf("the environment: %d, %x", e, g.u64(0))
	}
}

// The only argument is the name of a program.
func TestArguments(t *testing.T) {
	g := newGuest()
	if e := g.call(t, "args_sizes_get", 0, 4); e != Success || g.u32(0) != 1 || g.u32(4) != uint32(len("module")+1) {
		t.Errorf("%d: %d arguments of %d bytes", e, g.u32(0), g.u32(4))
	}
	if e := g.call(t, "args_get", 8, 100); e != Success || g.u32(8) != 100 || string(g.memory[100:108]) != "module\x00\xff" || g.memory[12] != 0xff {
		t.Errorf("%d: at %d, %q", e, g.u32(8), g.memory[100:108])
	}
	for _, at := range [][2]uint64{{1<<17 - 3, 0}, {0, 1<<17 - 6}} {
		if e := g.call(t, "args_get", at[0], at[1]); e != Fault {
			t.Errorf("at %v: %d", at, e)
		}
	}
}

func TestTimeAndChance(t *testing.T) {
	g := newGuest()
	if e := g.call(t, "clock_time_get", realtime, 0, 0); e != Success || g.u64(0) != 1_000_000 {
		t.Errorf("%d, %d", e, g.u64(0))
	}
	g.slept = 5
	if e := g.call(t, "clock_time_get", monotonic, 0, 0); e != Success || g.u64(0) != 5 {
		t.Errorf("%d, %d", e, g.u64(0))
	}
	if e := g.call(t, "clock_time_get", 2, 0, 0); e != Invalid {
		t.Errorf("a clock that is not there: %d", e)
	}
	if e := g.call(t, "random_get", 10, 100_000); e != Success || g.memory[9] != 0xff || g.memory[10] != 7 || g.memory[100_009] != 7 || g.memory[100_010] != 0xff || g.charged != 50_000 {
		t.Errorf("%d, %d charged", e, g.charged)
	}
}

func TestPolling(t *testing.T) {
	const in, out, count = 0, 2000, 4000
	g := newGuest()
	g.subscribe(in, 11, forClock, monotonic, 700, 0)
	g.subscribe(in+48, 12, forClock, monotonic, 300, 0)
	g.subscribe(in+96, 13, forClock, realtime, 1_000_100, 1)
	if e := g.call(t, "poll_oneoff", in, out, 3, count); e != Success || g.slept != 100 || g.u32(count) != 1 || g.u64(out) != 13 {
		t.Errorf("%d, slept %d, %d events, the first of %d", e, g.slept, g.u32(count), g.u64(out))
	}
	if e := g.call(t, "poll_oneoff", in, out, 2, count); e != Success || g.slept != 400 || g.u32(count) != 1 || g.u64(out) != 12 {
		t.Errorf("%d, slept %d, %d events, the first of %d", e, g.slept, g.u32(count), g.u64(out))
	}
	// Files are ready, so nobody sleeps.
	g.subscribe(in+48, 14, forReading, standardInput, 0, 0)
	g.subscribe(in+96, 15, forWriting, 9, 0, 0)
	if e := g.call(t, "poll_oneoff", in, out, 3, count); e != Success || g.slept != 400 || g.u32(count) != 2 ||
		g.u64(out) != 14 || g.u32(out+8)&0xffff != 0 || g.u64(out+32) != 15 || Errno(g.u32(out+40)&0xffff) != BadFile {
		t.Errorf("%d, slept %d, %d events", e, g.slept, g.u32(count))
	}
	g.subscribe(in, 11, 3, 0, 0, 0)
	for n, want := range map[uint64]Errno{0: Invalid, 1: Invalid, maxSubscriptions + 1: Invalid, math.MaxUint32: Invalid} {
		if e := g.call(t, "poll_oneoff", in, out, n, count); e != want {
			t.Errorf("%d subscriptions: %d", n, e)
		}
	}
	if e := g.call(t, "poll_oneoff", 1<<17-48, out, 2, count); e != Fault {
		t.Errorf("outside of memory: %d", e)
	}
}
