package etcd

import (
	"context"
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/wasmgate/wasmgate/storage"
)

// localServer is the embedded server as its store reads it: past the layers
// that clients go through, which count what nobody asked for and wait for the
// disk where there is no need to.
//
// Only one process can hold the data directory, and a write is applied before
// it is acknowledged, so that what is read here is linearizable.
type localServer struct {
	kv mvcc.KV
	// defragment gives the file space back that is not in use; nothing is read
	// or written meanwhile.
	defragment func() error
	// open means that others write, too, through a listener.
	open bool
	// seen is the highest revision that anybody was told of: by a write that
	// was acknowledged or refused, by a read, or by a watch. Without a listener
	// nobody can know of a later one.
	seen atomic.Int64

	// mu is held for reading while kv is read, and guards ended: the server
	// must not stop under a read.
	mu    sync.RWMutex
	ended bool
}

// newLocalServer takes over a server that has applied everything that was
// ever committed.
func newLocalServer(kv mvcc.KV, defragment func() error, open bool) *localServer {
	l := &localServer{kv: kv, defragment: defragment, open: open}
	l.saw(kv.Rev())
	return l
}

// saw remembers that somebody was told of a revision. It does nothing for a
// remote cluster, whose l is nil.
func (l *localServer) saw(rev int64) {
	if l == nil {
		return
	}
	for {
		old := l.seen.Load()
		if rev <= old || l.seen.CompareAndSwap(old, rev) {
			return
		}
	}
}

func (l *localServer) revision() (int64, error) {
	if !l.open {
		return l.seen.Load(), nil
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.ended {
		return 0, context.Canceled
	}
	return l.kv.Rev(), nil
}

// get reads one key; found is false when there is none.
func (l *localServer) get(ctx context.Context, key string) (kv storage.KV, found bool, err error) {
	r, err := l.read(ctx, []byte(key), nil, mvcc.RangeOptions{})
	if err != nil || len(r.KVs) == 0 {
		return storage.KV{}, false, err
	}
	return toKV(r.KVs[0]), true, nil
}

// scan reads a range whose keys begin at start.
func (l *localServer) scan(ctx context.Context, start string, r storage.Range) (storage.Page, error) {
	o := mvcc.RangeOptions{Rev: r.Revision, WithTotalCount: r.Count}
	if r.Limit > 0 {
		o.Limit = int64(r.Limit) + 1 // one more tells whether there are more
	}
	end := []byte(clientv3.GetPrefixRangeEnd(r.Prefix))
	if string(end) == "\x00" {
		end = []byte{} // up to the last key
	}
	found, err := l.read(ctx, []byte(start), end, o)
	if err != nil {
		return storage.Page{}, err
	}
	page := storage.Page{Revision: r.Revision}
	if page.Revision == 0 {
		page.Revision = found.Rev
	}
	if r.Count {
		page.Count = int64(found.Count)
	}
	kvs := found.KVs
	if page.More = r.Limit > 0 && len(kvs) > r.Limit; page.More {
		kvs = kvs[:r.Limit]
	}
	page.KVs = toKVs(kvs)
	return page, nil
}

func (l *localServer) read(ctx context.Context, key, end []byte, o mvcc.RangeOptions) (*mvcc.RangeResult, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.ended {
		return nil, context.Canceled
	}
	r, err := l.kv.Range(ctx, key, end, o)
	if err != nil {
		return nil, err
	}
	l.saw(r.Rev)
	return r, nil
}

// end waits for reads and refuses more.
func (l *localServer) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}
