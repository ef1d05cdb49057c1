package headroom

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The runtime collects when the heap has grown, or every two minutes, and gives back
// what it does not need over minutes: of a gateway that has read all of its objects, or
// written many, and now waits, the garbage of that stays resident. So it is collected
// once work has ended, and given back at once.
const (
	// lookEvery is how often it is looked at what was allocated, and calm how much may
	// have been since the look before for this to count as rest.
	lookEvery = 5 * time.Second
	calm      = 4 << 20
	// restful is how many looks in a row have to find rest, and worth how much must have
	// been allocated since the last time for there to be something to give back.
	restful = 2
	worth   = 16 << 20
)

// resting finds out when work has ended.
type resting struct {
	seen, given uint64 // what had been allocated at the last look, and the last time
	calm        int    // looks in a row
}

// look tells, of how many bytes were ever allocated, that it is time.
func (r *resting) look(allocated uint64) bool {
	if allocated-r.seen > calm {
		r.calm = 0
	} else {
		r.calm++
	}
	if r.seen = allocated; r.calm < restful || allocated-r.given < worth {
		return false
	}
	r.given = allocated
	return true
}

// giveBack gives back memory whenever work has ended, until done is closed.
func giveBack(every time.Duration, done <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var r resting
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for {
		select {
		case <-tick.C:
		case <-done:
			return
		}
		metrics.Read(sample)
		if sample[0].Value.Kind() == metrics.KindUint64 && r.look(sample[0].Value.Uint64()) {
			debug.FreeOSMemory()
		}
	}
}
