package etcd

import (
	"context"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

// reader is a store as it is read.
type reader struct {
	client *clientv3.Client
	// local is the embedded server; nil for a remote cluster.
	local   *localServer
	observe Observe
	rev     *revisionShare

	// noStreams is set once a remote cluster said that it cannot stream ranges.
	noStreams atomic.Bool
}

var _ storage.Reader = (*reader)(nil)

func toKV(kv *mvccpb.KeyValue) storage.KV {
	return storage.KV{Key: string(kv.Key), Value: kv.Value, Revision: kv.ModRevision}
}

func toKVs(kvs []*mvccpb.KeyValue) []storage.KV {
	out := make([]storage.KV, len(kvs))
	for i, kv := range kvs {
		out[i] = toKV(kv)
	}
	return out
}

// ended reports that the caller or the store has ended, which a local read
// would not notice.
func (rd *reader) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return rd.client.Ctx().Err()
}

// Get implements storage.Reader.
func (rd *reader) Get(ctx context.Context, key string) (storage.KV, error) {
	defer rd.observe.begin("get", key)()
	kv, found, err := rd.get(ctx, key)
	if err != nil {
		return storage.KV{}, failed(ctx, err, key, 0)
	}
	if !found {
		return storage.KV{}, &storage.Error{Kind: storage.NotFound, Key: key}
	}
	return kv, nil
}

func (rd *reader) get(ctx context.Context, key string) (kv storage.KV, found bool, err error) {
	if err := rd.ended(ctx); err != nil {
		return storage.KV{}, false, err
	}
	if rd.local != nil {
		return rd.local.get(ctx, key)
	}
	resp, err := rd.client.Get(ctx, key)
	if err != nil || len(resp.Kvs) == 0 {
		return storage.KV{}, false, err
	}
	return toKV(resp.Kvs[0]), true, nil
}

// Range implements storage.Reader. The caller pages: one answer must fit a
// message. Remote servers count what remains whether asked to or not, so whoever
// wants everything calls Scan.
func (rd *reader) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	if err := rd.ended(ctx); err != nil {
		return storage.Page{}, failed(ctx, err, r.Prefix, r.Revision)
	}
	defer rd.observe.begin("list", r.Prefix)()
	var page storage.Page
	var err error
	if rd.local != nil {
		page, err = rd.local.scan(ctx, startOf(r), r)
	} else {
		page, err = rd.remoteRange(ctx, r)
	}
	if err != nil {
		return storage.Page{}, failed(ctx, err, r.Prefix, r.Revision)
	}
	return page, nil
}

// startOf is the first key that a range may hold.
func startOf(r storage.Range) string {
	start := r.Prefix
	if r.After != "" && r.After >= start {
		start = r.After + "\x00" // the key that follows After directly
	}
	if start == "" {
		start = "\x00" // etcd's smallest key
	}
	return start
}

func (rd *reader) remoteRange(ctx context.Context, r storage.Range) (storage.Page, error) {
	resp, err := rd.client.Get(ctx, startOf(r),
		clientv3.WithRange(clientv3.GetPrefixRangeEnd(r.Prefix)),
		clientv3.WithRev(r.Revision),
		clientv3.WithLimit(int64(r.Limit)))
	if err != nil {
		return storage.Page{}, err
	}
	page := storage.Page{KVs: toKVs(resp.Kvs), Revision: r.Revision, More: resp.More}
	if page.Revision == 0 {
		page.Revision = resp.Header.Revision
	}
	if r.Count {
		page.Count = resp.Count
	}
	return page, nil
}

// Revision implements storage.Reader. Concurrent callers share reads: each
// gets one that started after it asked.
func (rd *reader) Revision(ctx context.Context) (int64, error) {
	if rd.local == nil {
		return rd.rev.get(ctx)
	}
	err := rd.ended(ctx)
	if err == nil {
		var rev int64
		if rev, err = rd.local.revision(); err == nil {
			return rev, nil
		}
	}
	return 0, failed(ctx, err, "", 0)
}

func (rd *reader) readRevision(ctx context.Context) (int64, error) {
	defer rd.observe.begin("revision", "")()
	resp, err := rd.client.Get(ctx, healthKey, clientv3.WithCountOnly())
	if err != nil {
		return 0, failed(ctx, err, "", 0)
	}
	return resp.Header.Revision, nil
}
