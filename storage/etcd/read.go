package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

func toKV(kv *mvccpb.KeyValue) storage.KV {
	return storage.KV{Key: string(kv.Key), Value: kv.Value, Revision: kv.ModRevision}
}

// readOpts adds what makes a read of the most recent state linearizable: for
// a cluster nothing, since that is etcd's default; for the embedded server a
// local read is already (see [Store]), and spares a round through raft.
func (s *Store) readOpts(opts ...clientv3.OpOption) []clientv3.OpOption {
	if s.local != nil {
		opts = append(opts, clientv3.WithSerializable())
	}
	return opts
}

// ended reports that the caller or the store has ended, which a local read
// would not notice.
func (s *Store) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.client.Ctx().Err()
}

// Get implements storage.Reader.
func (s *Store) Get(ctx context.Context, key string) (storage.KV, error) {
	if err := s.ended(ctx); err != nil {
		return storage.KV{}, failed(ctx, err, key, 0)
	}
	resp, err := s.client.Get(ctx, key, s.readOpts()...)
	if err != nil {
		return storage.KV{}, failed(ctx, err, key, 0)
	}
	if len(resp.Kvs) == 0 {
		return storage.KV{}, &storage.Error{Kind: storage.NotFound, Key: key}
	}
	return toKV(resp.Kvs[0]), nil
}

// Range implements storage.Reader. The caller pages: one answer must fit a
// message.
func (s *Store) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	start := r.Prefix
	if r.After != "" && r.After >= start {
		start = r.After + "\x00" // the key that follows After directly
	}
	if start == "" {
		start = "\x00" // etcd's smallest key
	}
	if err := s.ended(ctx); err != nil {
		return storage.Page{}, failed(ctx, err, r.Prefix, r.Revision)
	}
	opts := s.readOpts(
		clientv3.WithRange(clientv3.GetPrefixRangeEnd(r.Prefix)),
		clientv3.WithRev(r.Revision),
		clientv3.WithLimit(int64(r.Limit)),
	)
	resp, err := s.client.Get(ctx, start, opts...)
	if err != nil {
		return storage.Page{}, failed(ctx, err, r.Prefix, r.Revision)
	}
	page := storage.Page{
		KVs:      make([]storage.KV, len(resp.Kvs)),
		Revision: r.Revision,
		More:     resp.More,
		Count:    resp.Count,
	}
	if page.Revision == 0 {
		page.Revision = resp.Header.Revision
	}
	for i, kv := range resp.Kvs {
		page.KVs[i] = toKV(kv)
	}
	return page, nil
}

// Revision implements storage.Reader. Concurrent callers share reads: each
// gets one that started after it asked.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	if s.local != nil {
		if err := s.ended(ctx); err != nil {
			return 0, failed(ctx, err, "", 0)
		}
		return s.local(), nil
	}
	return s.rev.get(ctx)
}

func (s *Store) readRevision(ctx context.Context) (int64, error) {
	resp, err := s.client.Get(ctx, healthKey, clientv3.WithCountOnly())
	if err != nil {
		return 0, failed(ctx, err, "", 0)
	}
	return resp.Header.Revision, nil
}
