package headroom

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// Memory is given back once after work, not during it, nor again and again at rest.
func TestRestBeginsAfterWork(t *testing.T) {
	const mega = 1 << 20
	var r resting
	total := uint64(0)
	for i, step := range []struct {
		more uint64
		want bool
	}{
		{80 * mega, false}, {mega, false}, {mega, true}, // work, and its end
		{mega, false}, {2 * mega, false}, {0, false}, // rest goes on
		{30 * mega, false}, {mega, false}, {30 * mega, false}, {5 * mega, false}, {mega, false}, {mega, true},
		{4 * mega, false}, {4 * mega, false}, {4 * mega, false}, {4 * mega, true}, // little by little
	} {
		total += step.more
		if got := r.look(total); got != step.want {
			t.Errorf("look %d: %v", i, got)
		}
	}
}

// What a process has no more use for is the system's again, without a collection that
// anybody asked for.
func TestGarbageIsGivenBackAtRest(t *testing.T) {
	released := []metrics.Sample{{Name: "/memory/classes/heap/released:bytes"}}
	debug.FreeOSMemory() // of what other tests left
	const size = 128 << 20
	work(size)
	metrics.Read(released)
	before := released[0].Value.Uint64()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		giveBack(10*time.Millisecond, done)
	}()
	defer func() { close(done); <-ended }()
	for late := time.Now().Add(time.Minute); ; runtime.Gosched() {
		if metrics.Read(released); released[0].Value.Uint64() >= before+size/2 {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%d bytes are given back, %d were before", released[0].Value.Uint64(), before)
		}
	}
}

// work leaves nothing but garbage.
//
//go:noinline
func work(size int) {
	garbage := make([]byte, size)
	for i := 0; i < len(garbage); i += 4096 {
		garbage[i] = 1
	}
	runtime.KeepAlive(garbage)
}
