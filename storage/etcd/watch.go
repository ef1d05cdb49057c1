package etcd

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/wasmgate/wasmgate/storage"
)

const (
	// watchStreamKey sets the streams of different watches apart: etcd reports
	// progress only to streams all of whose watches have caught up.
	watchStreamKey = "wasmgate-watch"
	watchBuffer    = 64
)

var errWatchClosed = errors.New("watch closed")

// Watch implements storage.Watcher. The client reconnects by itself and
// resumes where it was, so a watch breaks only when etcd cancels it.
func (s *Store) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	ctx, cancel := context.WithCancel(ctx)
	id := s.watchID.Add(1)
	ctx = metadata.AppendToOutgoingContext(clientv3.WithRequireLeader(ctx), watchStreamKey, strconv.FormatInt(id, 10))
	md, _ := metadata.FromOutgoingContext(ctx)
	s.mu.Lock()
	s.watches[id] = md
	s.mu.Unlock()

	out := make(chan storage.Batch, watchBuffer)
	var reason atomic.Pointer[error]
	go func() {
		err := s.follow(ctx, prefix, max(from, 1), out)
		s.mu.Lock()
		delete(s.watches, id)
		s.mu.Unlock()
		cancel()
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

func (s *Store) follow(ctx context.Context, prefix string, from int64, out chan<- storage.Batch) error {
	opts := []clientv3.OpOption{clientv3.WithRev(from), clientv3.WithProgressNotify()}
	key := prefix
	if prefix == "" {
		key, opts = "\x00", append(opts, clientv3.WithFromKey())
	} else {
		opts = append(opts, clientv3.WithPrefix())
	}
	for resp := range s.client.Watch(ctx, key, opts...) {
		if err := resp.Err(); err != nil {
			return failed(ctx, err, prefix, from)
		}
		batch, ok := toBatch(&resp)
		if !ok {
			continue
		}
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
	streams := make([]metadata.MD, 0, len(s.watches))
	for _, md := range s.watches {
		streams = append(streams, md)
	}
	s.mu.Unlock()
	for _, md := range streams {
		if err := s.client.RequestProgress(metadata.NewOutgoingContext(ctx, md)); err != nil {
			return failed(ctx, err, "", 0)
		}
	}
	return nil
}
