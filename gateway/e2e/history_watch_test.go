package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
)

// histWatcher follows everything, and goes on at another gateway, from the last
// revision that it has seen, whenever its watch ends.
type histWatcher struct {
	t    *testing.T
	path string
	apis []*gatewaytest.API
	at   int
	rnd  *rand.Rand

	mu     sync.Mutex
	rv     string
	events []string
	// resumed is how often it began again.
	resumed int
}

// run watches until ctx ends.
func (w *histWatcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		rv := w.rv
		w.mu.Unlock()
		r, err := w.apis[w.at].Open(ctx, w.path+"?watch=1&allowWatchBookmarks=true&resourceVersion="+rv)
		w.at = (w.at + 1) % len(w.apis)
		if err != nil {
			pause(w.rnd)
			continue
		}
		switch {
		case r.StatusCode == http.StatusOK:
			w.follow(json.NewDecoder(r.Body))
		case r.StatusCode < 500:
			w.t.Errorf("a watch from %s: %s", rv, r.Status)
			return
		default:
			pause(w.rnd)
		}
		r.Body.Close()
	}
}

// follow notes what comes until the stream breaks.
func (w *histWatcher) follow(d *json.Decoder) {
	for {
		var e gatewaytest.Event
		if d.Decode(&e) != nil {
			w.mu.Lock()
			w.resumed++
			w.mu.Unlock()
			return
		}
		if e.Type == "ERROR" {
			w.t.Errorf("a watch was told %v", e.Object)
			return
		}
		w.mu.Lock()
		if w.rv = e.Object.RV(); e.Type != "BOOKMARK" {
			w.events = append(w.events, fmt.Sprintf("%s %s %s %s", e.Object.RV(), e.Type, e.Object.Str("metadata.name"), e.Object.Str("data.v")))
		}
		w.mu.Unlock()
	}
}

// has tells whether the watcher has seen n events.
func (w *histWatcher) has(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.events) >= n
}

// written is what etcd knows of the history of all objects below a prefix since
// a revision, as watchers should have seen it.
func written(t *testing.T, s *gatewaytest.Server, prefix string, from int64) (out []string) {
	t.Helper()
	etcd := s.Etcd(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	now, err := etcd.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	ask := time.NewTicker(50 * time.Millisecond)
	defer ask.Stop()
	batches := etcd.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(from+1), clientv3.WithPrevKV())
	for {
		select {
		case batch := <-batches:
			if batch.Err() != nil || batch.Canceled {
				t.Fatal(batch.Err())
			}
			for _, ev := range batch.Events {
				out = append(out, asSeen(t, ev, prefix))
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

// asSeen is the event that watchers get of a change in etcd.
func asSeen(t *testing.T, ev *clientv3.Event, prefix string) string {
	t.Helper()
	kind, value := "MODIFIED", ev.Kv.Value
	switch {
	case ev.Type == clientv3.EventTypeDelete:
		kind, value = "DELETED", ev.PrevKv.Value
	case ev.IsCreate():
		kind = "ADDED"
	}
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(value, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s %s %s", ev.Kv.ModRevision, kind, strings.TrimPrefix(string(ev.Kv.Key), prefix), o.(*corev1.ConfigMap).Data["v"])
}
