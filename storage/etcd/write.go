package etcd

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

// writer is a store as it is written, which depends on the guards.
type writer struct {
	*committer
	guards []guard
}

var _ storage.GuardedWriter = (*writer)(nil)

// committer is what all writers of a store have in common.
type committer struct {
	client  *clientv3.Client
	local   *localServer // nil for a remote cluster
	observe Observe
	leases  *leaseShare
	// reads tells what a write met that was refused.
	reads *reader
}

// guard is a key that has to be at a revision.
type guard struct {
	key string
	rev int64
	// put is what becomes of the key in the same transaction; the zero value is
	// nothing.
	put clientv3.Op
}

// While implements storage.Guarder.
func (w *writer) While(key string, rev int64) storage.GuardedWriter {
	return &writer{committer: w.committer, guards: append(slices.Clip(w.guards), guard{key: key, rev: rev})}
}

// Along implements storage.Guarder.
func (w *writer) Along(key string, value []byte, rev int64) storage.GuardedWriter {
	return &writer{committer: w.committer, guards: append(slices.Clip(w.guards), guard{key, rev, put(key, value)})}
}

// Create implements storage.Writer.
func (w *writer) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	return w.put(ctx, key, value, 0, ttl)
}

// Update implements storage.Writer.
func (w *writer) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	if rev <= 0 {
		return 0, w.missed(ctx, key, rev)
	}
	return w.put(ctx, key, value, rev, ttl)
}

// Delete implements storage.Writer.
func (w *writer) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	if rev <= 0 {
		return 0, w.missed(ctx, key, rev)
	}
	return w.commit(ctx, key, rev, clientv3.OpDelete(key))
}

// put writes key if its revision is rev, where 0 means that it must not exist.
func (w *writer) put(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	for first := true; ; first = false {
		lease, err := w.leases.get(ctx, ttl)
		if err != nil {
			return 0, failed(ctx, err, key, rev)
		}
		var opts []clientv3.OpOption
		if lease != clientv3.NoLease {
			opts = append(opts, clientv3.WithLease(lease))
		}
		n, err := w.commit(ctx, key, rev, put(key, value, opts...))
		// A shared lease can be revoked behind our back; nothing was written.
		if first && errors.Is(err, rpctypes.ErrLeaseNotFound) {
			w.leases.forget(lease)
			continue
		}
		if storage.KindOf(err) == storage.Full {
			return w.refused(ctx, key, value, rev, err)
		}
		return n, err
	}
}

// put is the operation that writes a value, which is not copied.
func put(key string, value []byte, opts ...clientv3.OpOption) clientv3.Op {
	op := clientv3.OpPut(key, "", opts...)
	op.WithValueBytes(value)
	return op
}

func (w *writer) commit(ctx context.Context, key string, rev int64, op clientv3.Op) (int64, error) {
	conditions := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", rev)}
	reads, ops := []clientv3.Op{clientv3.OpGet(key)}, []clientv3.Op{op}
	for _, g := range w.guards {
		conditions = append(conditions, clientv3.Compare(clientv3.ModRevision(g.key), "=", g.rev))
		reads = append(reads, clientv3.OpGet(g.key))
		if g.put.IsPut() {
			ops = append(ops, g.put)
		}
	}
	defer w.observe.begin(operation(rev, op), key)()
	resp, err := w.client.Txn(ctx).If(conditions...).Then(ops...).Else(reads...).Commit()
	if err != nil {
		return 0, failed(ctx, err, key, rev)
	}
	w.local.saw(resp.Header.Revision)
	if resp.Succeeded {
		return resp.Header.Revision, nil
	}
	for i, g := range w.guards {
		if now := present(resp, i+1); now == nil || now.Revision != g.rev {
			return 0, &storage.Error{Kind: storage.Changed, Key: g.key, Revision: g.rev, Current: now}
		}
	}
	e := &storage.Error{Kind: storage.NotFound, Key: key, Revision: rev, Current: present(resp, 0)}
	switch {
	case e.Current != nil && rev == 0:
		e.Kind = storage.Exists
	case e.Current != nil:
		e.Kind = storage.Conflict
	}
	return 0, e
}

// operation names a write for [Observe].
func operation(rev int64, op clientv3.Op) string {
	switch {
	case op.IsDelete():
		return "delete"
	case rev == 0:
		return "create"
	}
	return "update"
}

// present is what the i-th read of a refused transaction found; nil for
// nothing.
func present(resp *clientv3.TxnResponse, i int) *storage.KV {
	if i >= len(resp.Responses) {
		return nil
	}
	kvs := resp.Responses[i].GetResponseRange().GetKvs()
	if len(kvs) != 1 {
		return nil
	}
	kv := toKV(kvs[0])
	return &kv
}

// missed is the failure of a write that expects a revision no key can have,
// which etcd would take for "must not exist".
func (c *committer) missed(ctx context.Context, key string, rev int64) error {
	kv, err := c.reads.Get(ctx, key)
	if err != nil {
		return err
	}
	return &storage.Error{Kind: storage.Conflict, Key: key, Revision: rev, Current: &kv}
}
