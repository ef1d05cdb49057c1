package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/paging"
)

// Scan implements storage.Reader. A remote cluster streams, if it can (3.7):
// for every page that is asked for by itself, servers count all keys after it.
func (rd *reader) Scan(ctx context.Context, r storage.Range, fn func(storage.Page) error) error {
	r.Count, r.Limit = false, 0
	if rd.local == nil && !rd.noStreams.Load() {
		streamed, err := rd.stream(ctx, r, fn)
		if streamed || err != nil {
			return err
		}
		rd.noStreams.Store(true)
	}
	return paging.Scan(ctx, rd, r, fn)
}

// stream is Scan by one streamed range; it reports false, having done nothing,
// when the cluster knows no such thing.
func (rd *reader) stream(ctx context.Context, r storage.Range, fn func(storage.Page) error) (bool, error) {
	if r.Revision == 0 { // the stream tells its own only at its end
		var err error
		if r.Revision, err = rd.Revision(ctx); err != nil {
			return false, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks, err := rd.client.GetStream(ctx, startOf(r), clientv3.WithRange(clientv3.GetPrefixRangeEnd(r.Prefix)), clientv3.WithRev(r.Revision))
	if err != nil {
		return streamFailed(ctx, err, r)
	}
	defer func() {
		cancel()
		for range chunks { // its sender ends when it is heard out
		}
	}()
	for chunk := range chunks {
		if err := chunk.Err(); err != nil {
			return streamFailed(ctx, err, r)
		}
		if err := fn(storage.Page{KVs: toKVs(chunk.Kvs), Revision: r.Revision, More: chunk.Header == nil}); err != nil {
			return true, err
		}
	}
	return true, nil
}

// streamFailed is the outcome of stream when it failed.
func streamFailed(ctx context.Context, err error, r storage.Range) (bool, error) {
	if status.Code(err) == codes.Unimplemented {
		return false, nil
	}
	return true, failed(ctx, err, r.Prefix, r.Revision)
}
