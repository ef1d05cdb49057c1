package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

const watchBuffer = 64

var errWatchClosed = errors.New("watch closed")

// watches are all watches of a store that are open.
type watches struct {
	local *localServer // nil for a remote cluster
	log   zerolog.Logger
	// newWatcher makes a client for watches only, without any stream yet.
	newWatcher func() clientv3.Watcher

	// mu guards open: the clients of all open watches.
	mu   sync.Mutex
	open map[clientv3.Watcher]struct{}
}

var _ storage.Watcher = (*watches)(nil)

// Watch implements storage.Watcher. The client reconnects by itself and
// resumes where it was, so a watch breaks only when etcd cancels it.
//
// Each watch has a client of its own, and with it a stream of its own: etcd
// reports progress only to streams all of whose watches have caught up, and
// what the client opened ends with it.
func (ws *watches) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	watcher := ws.newWatcher()
	ws.mu.Lock()
	ws.open[watcher] = struct{}{}
	ws.mu.Unlock()

	out := make(chan storage.Batch, watchBuffer)
	var reason atomic.Pointer[error]
	go func() {
		err := ws.follow(ctx, watcher, prefix, max(from, 1), out)
		ws.mu.Lock()
		delete(ws.open, watcher)
		ws.mu.Unlock()
		cancel()
		if closeErr := watcher.Close(); closeErr != nil {
			ws.log.Debug().Err(closeErr).Msg("watch stream ended badly")
		}
		reason.Store(&err)
		close(out)
	}()
	return out, func() error {
		if err := reason.Load(); err != nil {
			return *err
		}
		return nil
	}
}

func (ws *watches) follow(ctx context.Context, watcher clientv3.Watcher, prefix string, from int64, out chan<- storage.Batch) error {
	// In fragments, since what a watch has to catch up with can be larger than
	// any message; the client puts them together again.
	opts := []clientv3.OpOption{clientv3.WithRev(from), clientv3.WithProgressNotify(), clientv3.WithFragment()}
	key := prefix
	if prefix == "" {
		key, opts = "\x00", append(opts, clientv3.WithFromKey())
	} else {
		opts = append(opts, clientv3.WithPrefix())
	}
	for resp := range watcher.Watch(ctx, key, opts...) {
		if err := resp.Err(); err != nil {
			return failed(ctx, err, prefix, from)
		}
		batch, ok := toBatch(&resp)
		if !ok {
			continue
		}
		ws.local.saw(batch.Revision)
		select {
		case out <- batch:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return failed(ctx, err, prefix, from)
	}
	return failed(ctx, errWatchClosed, prefix, from)
}

func toBatch(resp *clientv3.WatchResponse) (storage.Batch, bool) {
	if len(resp.Events) == 0 {
		return storage.Batch{Revision: resp.Header.GetRevision()}, resp.IsProgressNotify()
	}
	b := storage.Batch{Events: make([]storage.Event, len(resp.Events))}
	for i, ev := range resp.Events {
		b.Events[i] = storage.Event{KV: toKV(ev.Kv), Deleted: ev.Type == clientv3.EventTypeDelete}
		if b.Events[i].Deleted {
			b.Events[i].Value = nil
		}
	}
	// The header may be ahead of a watch that is still catching up.
	b.Revision = b.Events[len(b.Events)-1].Revision
	return b, true
}

// RequestProgress implements storage.Watcher for all open watches.
func (ws *watches) RequestProgress(ctx context.Context) error {
	ws.mu.Lock()
	open := make([]clientv3.Watcher, 0, len(ws.open))
	for w := range ws.open {
		open = append(open, w)
	}
	ws.mu.Unlock()
	var errs []error
	for _, w := range open {
		if err := w.RequestProgress(clientv3.WithRequireLeader(ctx)); err != nil && ws.isOpen(w) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return failed(ctx, fmt.Errorf("request progress: %w", err), "", 0)
	}
	return nil
}

func (ws *watches) isOpen(w clientv3.Watcher) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	_, ok := ws.open[w]
	return ok
}
