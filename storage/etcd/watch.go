package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

const watchBuffer = 64

var errWatchClosed = errors.New("watch closed")

// Watch implements storage.Watcher. The client reconnects by itself and
// resumes where it was, so a watch breaks only when etcd cancels it.
//
// Each watch has a client of its own, and with it a stream of its own: etcd
// reports progress only to streams all of whose watches have caught up, and
// what the client opened ends with it.
func (s *Store) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	watcher := s.newWatcher()
	s.mu.Lock()
	s.watches[watcher] = struct{}{}
	s.mu.Unlock()

	out := make(chan storage.Batch, watchBuffer)
	var reason atomic.Pointer[error]
	go func() {
		err := s.follow(ctx, watcher, prefix, max(from, 1), out)
		s.mu.Lock()
		delete(s.watches, watcher)
		s.mu.Unlock()
		cancel()
		if closeErr := watcher.Close(); closeErr != nil {
			s.log.Debug().Err(closeErr).Msg("watch stream ended badly")
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

func (s *Store) follow(ctx context.Context, watcher clientv3.Watcher, prefix string, from int64, out chan<- storage.Batch) error {
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
		s.local.saw(batch.Revision)
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
func (s *Store) RequestProgress(ctx context.Context) error {
	s.mu.Lock()
	open := make([]clientv3.Watcher, 0, len(s.watches))
	for w := range s.watches {
		open = append(open, w)
	}
	s.mu.Unlock()
	var errs []error
	for _, w := range open {
		if err := w.RequestProgress(clientv3.WithRequireLeader(ctx)); err != nil && s.isOpen(w) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return failed(ctx, fmt.Errorf("request progress: %w", err), "", 0)
	}
	return nil
}

func (s *Store) isOpen(w clientv3.Watcher) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.watches[w]
	return ok
}
