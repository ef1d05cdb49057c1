// Package headroom bounds how much garbage gathers before it is collected, and gives it
// back when a gateway comes to rest.
//
// The runtime lets a heap double before it collects: of a gateway that holds two
// gigabytes of objects, which hardly change, two more are garbage at times. What that
// saves is processor time, and of a large heap it saves little: most of it is bytes,
// which the collector does not look into. So the heap may grow by all of itself while
// it is small, and by less of itself the larger it is.
//
// It owns the runtime's percentage (GOGC), and nothing else of it: who bounds the
// memory of the process bounds it besides (GOMEMLIMIT). It must not know what a
// gateway holds.
package headroom

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// small is what a heap may have of garbage however little of it is live, and share
	// the part of what is live beyond that by which more may be.
	small = 48 << 20
	share = 4
	// lowest is the least percentage, so that collecting a large heap that is
	// written to does not take all the time.
	lowest = 30
	// step is by how many percent of it the percentage has to differ to be set: that
	// stops the process for a moment.
	step = 10
)

// percentage is how much garbage there may be, in percent of what is live.
func percentage(live uint64) int {
	if live <= small {
		return 100
	}
	allowed := small + (live-small)/share
	return int(max(allowed*100/live, lowest))
}

// follower sets the percentage after collections, while it is used.
type follower struct {
	mu      sync.Mutex
	users   int
	former  int
	present int
	sample  [1]metrics.Sample
	done    chan struct{} // closed in the end
}

var process follower

// Follow has the percentage follow the heap until the returned function is called.
// It does nothing where GOGC is set. Several in one process are as one.
func Follow() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	process.begin()
	return sync.OnceFunc(process.end)
}

func (f *follower) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users++; f.users > 1 {
		return
	}
	f.sample[0].Name = "/gc/heap/live:bytes"
	f.former = debug.SetGCPercent(100)
	f.present = 100
	f.done = make(chan struct{})
	go giveBack(lookEvery, f.done)
	f.afterNext()
}

func (f *follower) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users--; f.users == 0 {
		debug.SetGCPercent(f.former)
		close(f.done)
	}
}

// sentinel is what only its finalizer knows: the collector finds it dead each time.
type sentinel struct{ _ *byte }

// afterNext calls collected after the next collection.
func (f *follower) afterNext() {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) { f.collected() })
}

// collected sets the percentage by what a collection has found to be live.
func (f *follower) collected() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users == 0 {
		return
	}
	defer f.afterNext()
	metrics.Read(f.sample[:])
	if f.sample[0].Value.Kind() != metrics.KindUint64 {
		return // not in this release of Go
	}
	if want := percentage(f.sample[0].Value.Uint64()); differs(want, f.present) {
		f.present = want
		debug.SetGCPercent(want)
	}
}

// differs tells that a percentage is worth being set in place of the present one.
func differs(want, present int) bool {
	d := max(want-present, present-want)
	return d*100 >= step*present
}
