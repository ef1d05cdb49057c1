package memory

import (
	"context"
	"runtime/metrics"
	"sync"
	"time"
)

// Purpose is what memory is taken for.
type Purpose int

// The purposes.
const (
	// Bodies are what clients send, as it arrives: what is uploaded, too.
	Bodies Purpose = iota
	// Decoding is what is made of them.
	Decoding
	// Lists are replies that nobody else has a part in, of one object, too.
	Lists
	// Watches are what each takes for its connection.
	Watches
	// Modules are the memories of their instances.
	Modules
	purposes
)

// Names are those of the purposes, in their order.
var Names = [purposes]string{"bodies", "decoding", "lists", "watches", "modules"}

// Budget is how much memory may be taken for what comes and goes: what the process may
// take, but for a quarter that is for garbage and the like, and for everything that it
// holds anyway, as objects. Of that no purpose has more than half, so that none is in the
// way of all others. It is safe for concurrent use.
type Budget struct {
	total int64
	// live tells how much memory was not free after the last collection of garbage, and
	// which that was.
	live func() (bytes int64, collection uint64)

	mu   sync.Mutex
	used [purposes]int64
	rest int64 // held for other reasons
	// looked is the collection that rest is of, and low the least that was taken from
	// what the runtime knows of since the one before.
	looked uint64
	low    int64
	// freed is closed when something is given back, nil while nobody waits for it.
	freed chan struct{}
}

// New makes a budget of what the process may take.
func New(total int64) *Budget { return &Budget{total: total, live: liveHeap} }

// liveHeap is what the last collection of garbage left.
func liveHeap() (bytes int64, collection uint64) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 || s[1].Value.Kind() != metrics.KindUint64 {
		return 0, 0
	}
	return int64(s[0].Value.Uint64()), s[1].Value.Uint64()
}

// reserve is the part of the process's memory, one in so many, that is not given away;
// and least is the part that always is, however much the process holds: what a request
// takes is small, and one that is refused frees nothing.
const reserve, least = 4, 16

// room is how much there is for all purposes together.
func (b *Budget) room() int64 { return max(b.total-b.total/reserve-b.rest, b.total/least) }

// Look finds out how much is held for other reasons: what is live and was not taken from
// the budget, of which the memory of modules is no part. What was taken for a moment only
// may count twice until the next collection of garbage, and nothing less than once.
func (b *Budget) Look() {
	live, collection := b.live()
	b.mu.Lock()
	defer b.mu.Unlock()
	if collection == b.looked {
		return
	}
	b.rest, b.looked = max(live-b.low, 0), collection
	b.low = b.heap()
	b.wake()
}

// heap is how much is taken of what the runtime knows of.
func (b *Budget) heap() (sum int64) {
	for p, n := range b.used {
		if Purpose(p) != Modules {
			sum += n
		}
	}
	return sum
}

// lookEvery is how often that is.
const lookEvery = time.Second

// Run looks, now and then, until ctx ends.
func (b *Budget) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		b.Look()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// wake has those look again who wait.
func (b *Budget) wake() {
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// Account is one purpose's part of a budget; that of a nil budget takes what it wants.
type Account struct {
	budget *Budget
	of     Purpose
}

// For is the account of a purpose.
func (b *Budget) For(p Purpose) Account { return Account{b, p} }

// Take takes n bytes, or none.
func (a Account) Take(n int) bool {
	b := a.budget
	if b == nil || n == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(a.of, int64(n))
}

func (b *Budget) take(p Purpose, n int64) bool {
	sum := n
	for _, m := range b.used {
		sum += m
	}
	if room := b.room(); sum > room || b.used[p]+n > room/2 {
		return false
	}
	b.used[p] += n
	return true
}

// Owe takes n bytes whether there are so many or not: what is there already counts.
func (a Account) Owe(n int) {
	b := a.budget
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used[a.of] += int64(n)
}

// Wait takes n bytes as soon as there are so many, or none when ctx ends before, or a
// time does.
func (a Account) Wait(ctx context.Context, n int, most time.Duration) bool {
	if a.Take(n) {
		return true
	}
	over := time.NewTimer(most)
	defer over.Stop()
	for {
		freed := a.budget.nextFreed()
		if a.Take(n) {
			return true
		}
		select {
		case <-freed:
		case <-over.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

func (b *Budget) nextFreed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.freed == nil {
		b.freed = make(chan struct{})
	}
	return b.freed
}

// Give gives n bytes back.
func (a Account) Give(n int) {
	b := a.budget
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used[a.of] -= int64(n)
	b.low = min(b.low, b.heap())
	b.wake()
}

// Most is how many bytes can be taken at once while nothing else is taken.
func (a Account) Most() int {
	if a.budget == nil {
		return int(^uint(0) >> 1)
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	return int((b.total - b.total/reserve) / 2)
}

// Uses are how much is taken, by purpose.
func (b *Budget) Uses() (used [purposes]int64, rest, room int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.rest, b.room()
}

// Total is what the process may take.
func (b *Budget) Total() int64 { return b.total }
