package etcd

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

// Create implements storage.Writer.
func (s *Store) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	return s.put(ctx, key, value, 0, ttl)
}

// Update implements storage.Writer.
func (s *Store) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	if rev <= 0 {
		return 0, s.missed(ctx, key, rev)
	}
	return s.put(ctx, key, value, rev, ttl)
}

// Delete implements storage.Writer.
func (s *Store) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	if rev <= 0 {
		return 0, s.missed(ctx, key, rev)
	}
	return s.commit(ctx, key, rev, clientv3.OpDelete(key))
}

// put writes key if its revision is rev, where 0 means that it must not exist.
func (s *Store) put(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	for first := true; ; first = false {
		lease, err := s.leases.get(ctx, ttl)
		if err != nil {
			return 0, failed(ctx, err, key, rev)
		}
		var opts []clientv3.OpOption
		if lease != clientv3.NoLease {
			opts = append(opts, clientv3.WithLease(lease))
		}
		n, err := s.commit(ctx, key, rev, clientv3.OpPut(key, string(value), opts...))
		// A shared lease can be revoked behind our back; nothing was written.
		if first && errors.Is(err, rpctypes.ErrLeaseNotFound) {
			s.leases.forget(lease)
			continue
		}
		return n, err
	}
}

func (s *Store) commit(ctx context.Context, key string, rev int64, op clientv3.Op) (int64, error) {
	resp, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", rev)).
		Then(op).
		Else(clientv3.OpGet(key)).
		Commit()
	if err != nil {
		return 0, failed(ctx, err, key, rev)
	}
	if resp.Succeeded {
		return resp.Header.Revision, nil
	}
	e := &storage.Error{Kind: storage.NotFound, Key: key, Revision: rev}
	if len(resp.Responses) == 1 {
		if kvs := resp.Responses[0].GetResponseRange().GetKvs(); len(kvs) == 1 {
			current := toKV(kvs[0])
			e.Current = &current
			e.Kind = storage.Conflict
			if rev == 0 {
				e.Kind = storage.Exists
			}
		}
	}
	return 0, e
}

// missed is the failure of a write that expects a revision no key can have,
// which etcd would take for "must not exist".
func (s *Store) missed(ctx context.Context, key string, rev int64) error {
	kv, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	return &storage.Error{Kind: storage.Conflict, Key: key, Revision: rev, Current: &kv}
}
