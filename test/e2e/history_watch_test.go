package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/test/harness"
)

// histWatcher follows all objects of a kind, and goes on at another gateway and
// at any version, from the last revision that it has seen, whenever its watch
// ends. It also ends watches itself.
type histWatcher struct {
	t    *testing.T
	kind *histKind
	apis []*harness.API
	at   int
	rnd  *rand.Rand

	mu     sync.Mutex
	rv     int64
	events []histEvent
	// resumed is how often it began again.
	resumed int
}

// run watches until ctx ends.
func (w *histWatcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		rv := w.rv
		w.mu.Unlock()
		version := w.kind.versions[w.rnd.IntN(len(w.kind.versions))]
		leave, cancel := context.WithTimeout(ctx, time.Duration(200+w.rnd.IntN(5000))*time.Millisecond)
		path := fmt.Sprintf("%s?watch=1&allowWatchBookmarks=true&resourceVersion=%d", w.kind.list(version), rv)
		r, err := w.apis[w.at].Open(leave, path)
		w.at = (w.at + 1) % len(w.apis)
		if err != nil {
			pause(w.rnd)
			cancel()
			continue
		}
		switch {
		case r.StatusCode == http.StatusOK:
			w.follow(json.NewDecoder(r.Body), version)
		case r.StatusCode < 500:
			w.t.Errorf("a watch from %d: %s", rv, r.Status)
		default:
			pause(w.rnd)
		}
		r.Body.Close()
		cancel()
	}
}

// follow notes what comes until the stream breaks.
func (w *histWatcher) follow(d *json.Decoder, version string) {
	for {
		var e struct {
			Type   string
			Object json.RawMessage
		}
		if d.Decode(&e) != nil {
			w.mu.Lock()
			w.resumed++
			w.mu.Unlock()
			return
		}
		if e.Type == "ERROR" && w.mayEnd(e.Object) {
			return
		}
		o, err := readSeen(e.Object)
		rv, bad := strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64)
		if e.Type == "ERROR" || err != nil || bad != nil {
			w.t.Errorf("a watch was told %s %s", e.Type, e.Object)
			return
		}
		w.mu.Lock()
		if rv < w.rv || rv == w.rv && e.Type != "BOOKMARK" {
			w.t.Errorf("%s of %d came after %d", e.Type, rv, w.rv)
		}
		if w.rv = rv; e.Type != "BOOKMARK" {
			w.events = append(w.events, histEvent{rv, e.Type, o.Metadata.Name, o.value(w.kind, version)})
		}
		w.mu.Unlock()
	}
}

// mayEnd reports whether an error is one after which a watch may be resumed: it
// is the server's, such as that it cannot convert yet.
func (w *histWatcher) mayEnd(status []byte) bool {
	var s struct{ Code int }
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resumed++
	return json.Unmarshal(status, &s) == nil && s.Code >= 500
}

// has tells whether the watcher has seen n events.
func (w *histWatcher) has(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.events) >= n
}

// watchHistory starts watchers of every kind, which end when the function it
// returns is called.
func watchHistory(t *testing.T, kinds []*histKind, from int64, apis []*harness.API, round int) ([]*histWatcher, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	watchers := make([]*histWatcher, histWatchers)
	for i := range watchers {
		w := &histWatcher{t: t, kind: kinds[i%len(kinds)], rv: from, apis: apis, at: i % len(apis), rnd: rand.New(rand.NewPCG(uint64(round), uint64(100+i)))}
		watchers[i] = w
		running.Go(func() { w.run(ctx) })
	}
	return watchers, func() {
		cancel()
		running.Wait()
	}
}

// written is what etcd knows of the history of all objects of a kind since a
// revision, as watchers should have seen it.
func written(t *testing.T, etcd *clientv3.Client, k *histKind, from int64) (out []histEvent) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	now, err := etcd.Get(ctx, k.prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	ask := time.NewTicker(50 * time.Millisecond)
	defer ask.Stop()
	batches := etcd.Watch(ctx, k.prefix, clientv3.WithPrefix(), clientv3.WithRev(from+1), clientv3.WithPrevKV())
	for {
		select {
		case batch := <-batches:
			if batch.Err() != nil || batch.Canceled {
				t.Fatal(batch.Err())
			}
			for _, ev := range batch.Events {
				out = append(out, k.asSeen(t, ev))
			}
			if batch.IsProgressNotify() && batch.Header.Revision >= now.Header.Revision {
				return out
			}
		case <-ask.C:
			if err := etcd.RequestProgress(ctx); err != nil {
				t.Fatal(err)
			}
		case <-ctx.Done():
			t.Fatalf("%d events, and no end", len(out))
		}
	}
}
