package etcd

import (
	"context"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// revisionTimeout bounds one shared read, which no single caller's context
// may bound.
const revisionTimeout = 10 * time.Second

// revisionShare lets concurrent callers share linearizable revision reads.
//
//	idle --caller--> reading(call 1) --callers--> reading(1), waiting(call 2)
//	reading(1) done --> reading(2) if anybody waits, else idle
//
// A caller that arrives while a read is under way must not take its answer,
// since the read may have been served before a write that the caller has
// already seen acknowledged. It waits for the next read, with all the others
// that arrived meanwhile.
type revisionShare struct {
	read func(context.Context) (int64, error)

	// mu guards the fields below.
	mu      sync.Mutex
	running bool
	waiting *revisionCall // the read that starts when the present one ends
}

type revisionCall struct {
	done chan struct{}
	rev  int64
	err  error
}

func newRevisionShare(read func(context.Context) (int64, error)) *revisionShare {
	return &revisionShare{read: read}
}

func (r *revisionShare) get(ctx context.Context) (int64, error) {
	r.mu.Lock()
	if r.waiting == nil {
		r.waiting = &revisionCall{done: make(chan struct{})}
	}
	call := r.waiting
	if !r.running {
		r.running = true
		go r.run()
	}
	r.mu.Unlock()
	select {
	case <-call.done:
		return call.rev, call.err
	case <-ctx.Done():
		return 0, &storage.Error{Kind: storage.Unavailable, Cause: ctx.Err()}
	}
}

func (r *revisionShare) run() {
	for {
		r.mu.Lock()
		call := r.waiting
		r.waiting = nil
		r.running = call != nil
		r.mu.Unlock()
		if call == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), revisionTimeout)
		call.rev, call.err = r.read(ctx)
		cancel()
		close(call.done)
	}
}
