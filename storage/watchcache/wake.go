package watchcache

import "sync/atomic"

// closed is the channel of what has already happened.
var closed = func() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// broadcast wakes any number of waiters at once. Its zero value is ready. A
// waiter takes the channel first and looks at the condition second; whoever
// changes the condition notifies afterwards. So no change is missed.
type broadcast struct {
	ch atomic.Pointer[chan struct{}] // nil while nobody waits
}

func (b *broadcast) wait() <-chan struct{} {
	for {
		if p := b.ch.Load(); p != nil {
			return *p
		}
		ch := make(chan struct{})
		if b.ch.CompareAndSwap(nil, &ch) {
			return ch
		}
	}
}

func (b *broadcast) notify() {
	if b.ch.Load() == nil {
		return
	}
	if p := b.ch.Swap(nil); p != nil {
		close(*p)
	}
}
