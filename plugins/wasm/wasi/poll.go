package wasi

import (
	"encoding/binary"
	"math"
)

// maxSubscriptions is for how many things one call may wait.
const maxSubscriptions = 1024

const (
	subscriptionSize = 48
	eventSize        = 32
)

// What a subscription is for, and where in it that is said.
const (
	forClock = iota
	forReading
	forWriting
)

// subscription is one thing that is waited for.
type subscription []byte

func (s subscription) userdata() []byte { return s[:8] }
func (s subscription) what() byte       { return s[8] }
func (s subscription) file() uint32     { return binary.LittleEndian.Uint32(s[16:]) }
func (s subscription) clock() uint32    { return binary.LittleEndian.Uint32(s[16:]) }
func (s subscription) timeout() uint64  { return binary.LittleEndian.Uint64(s[24:]) }
func (s subscription) absolute() bool   { return s[40]&1 != 0 }

// wait is how long a subscription to a clock waits.
func (s subscription) wait(g Guest) (nanoseconds int64, e Errno) {
	now, ok := clock(g, s.clock())
	if !ok {
		return 0, Invalid
	}
	timeout := int64(min(s.timeout(), math.MaxInt64))
	if s.absolute() {
		return max(timeout-now, 0), Success
	}
	return timeout, Success
}

// state is what there is to say of a file: the standard ones are always ready,
// others are not there.
func (s subscription) state() Errno {
	fd, last := s.file(), uint32(standardError)
	if s.what() == forReading {
		last = standardInput
	}
	if fd > last {
		return BadFile
	}
	return Success
}

// poll waits for the first of some things. Nothing has to be waited for.
func poll(g Guest, a []uint64) Errno {
	in, out, count := uint32(a[0]), uint32(a[1]), uint32(a[2])
	if count == 0 || count > maxSubscriptions {
		return Invalid
	}
	view, ok := g.Read(in, count*subscriptionSize)
	room, fits := g.Read(out, count*eventSize)
	if !ok || !fits {
		return Fault
	}
	g.Charge(vectorWork * int64(count))
	view = append([]byte(nil), view...) // the events may be written over it
	waits := make([]int64, count)
	files, first := false, int64(math.MaxInt64)
	for n := range waits {
		s, e := subscription(view[n*subscriptionSize:]), Success
		switch s.what() {
		case forClock:
			waits[n], e = s.wait(g)
			first = min(first, waits[n])
		case forReading, forWriting:
			files = true
		default:
			e = Invalid
		}
		if e != Success {
			return e
		}
	}
	if !files {
		g.Sleep(first)
	}
	events := 0
	for n, wait := range waits {
		s, e := subscription(view[n*subscriptionSize:]), Success
		if s.what() != forClock {
			e = s.state()
		} else if files || wait > first {
			continue
		}
		s.tell(room[events*eventSize:][:eventSize], e)
		events++
	}
	return put(g, a[3], 4, uint64(events), Success)
}

// tell writes an event about a subscription.
func (s subscription) tell(event []byte, e Errno) {
	clear(event)
	copy(event, s.userdata())
	binary.LittleEndian.PutUint16(event[8:], uint16(e))
	event[10] = s.what()
}
