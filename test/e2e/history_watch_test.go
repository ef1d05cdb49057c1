package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/test/harness"
)

// How watchers of a history watch.
const (
	histAll = "all objects"
	// histNamed selects one object.
	histNamed = "one by name"
	// histSlow reads nothing, now and then, while clients go on.
	histSlow = "all, slowly"
	// histStreamed begins with a streamed list whenever it begins.
	histStreamed = "a streamed list, and all"
)

// histWatcher follows objects of a kind, and goes on at another gateway and
// at any version, from the last revision that it has seen, whenever its watch
// ends. It also ends watches itself.
type histWatcher struct {
	t    *testing.T
	kind *histKind
	how  string
	h    *histRecorder
	apis []*harness.API
	at   int
	rnd  *rand.Rand

	mu     sync.Mutex
	rv     int64
	events []histEvent
	// lists are those that were streamed; parts is where in events what came after each
	// begins.
	lists []histList
	parts []int
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
		switch w.how {
		case histNamed:
			path += "&fieldSelector=metadata.name%3D" + w.name()
		case histStreamed:
			path += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
		}
		r, err := w.apis[w.at].Open(leave, path)
		w.at = (w.at + 1) % len(w.apis)
		if err != nil {
			pause(w.rnd)
			cancel()
			continue
		}
		switch {
		case r.StatusCode == http.StatusOK:
			d := json.NewDecoder(r.Body)
			if w.how != histStreamed || w.streamed(d, version) {
				w.follow(leave, d, version)
			}
		case r.StatusCode < 500:
			w.t.Errorf("a watch from %d: %s", rv, r.Status)
		default:
			pause(w.rnd)
		}
		r.Body.Close()
		cancel()
	}
}

// name is what a watcher selects.
func (w *histWatcher) name() string { return w.kind.letter + "0-0" }

// streamed takes the list that a stream begins with, unless it breaks before.
func (w *histWatcher) streamed(d *json.Decoder, version string) bool {
	l := histList{how: w.how, atLeast: w.rv, values: map[string]string{}}
	for {
		var e struct {
			Type   string
			Object histObject
		}
		if d.Decode(&e) != nil || e.Type == "ERROR" {
			return false
		}
		if e.Type == "ADDED" {
			l.values[e.Object.Metadata.Name] = e.Object.value(w.kind, version)
			continue
		}
		rv, err := strconv.ParseInt(e.Object.Metadata.ResourceVersion, 10, 64)
		if err != nil || e.Type != "BOOKMARK" {
			w.t.Errorf("a streamed list has %s at %q", e.Type, e.Object.Metadata.ResourceVersion)
			return false
		}
		l.rv = rv
		w.mu.Lock()
		defer w.mu.Unlock()
		w.rv, w.lists, w.parts = rv, append(w.lists, l), append(w.parts, len(w.events))
		return true
	}
}

// follow notes what comes until the stream breaks.
func (w *histWatcher) follow(ctx context.Context, d *json.Decoder, version string) {
	for {
		var e struct {
			Type   string
			Object json.RawMessage
		}
		if w.how == histSlow && w.rnd.IntN(20) == 0 {
			w.h.goesOn(ctx, w.rnd.IntN(2000))
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

// asked are those of all changes that the watcher asked for.
func (w *histWatcher) asked(truth []histEvent) (out []histEvent) {
	for _, e := range truth {
		if w.how != histNamed || e.name == w.name() {
			out = append(out, e)
		}
	}
	return out
}

// has tells whether the watcher has seen all changes that it asked for.
func (w *histWatcher) has(asked []histEvent) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.how == histStreamed {
		return len(asked) == 0 || w.rv >= asked[len(asked)-1].rv
	}
	return len(w.events) >= len(asked)
}

// wrong compares what the watcher saw with all changes that it asked for, and returns what
// differs first. After a streamed list it is those that followed.
func (w *histWatcher) wrong(asked []histEvent) error {
	if w.how != histStreamed {
		return wrongEvents(asked, w.events)
	}
	for i, l := range w.lists {
		seen := w.events[w.parts[i]:]
		if i+1 < len(w.parts) {
			seen = w.events[w.parts[i]:w.parts[i+1]]
		}
		from := slices.IndexFunc(asked, func(e histEvent) bool { return e.rv > l.rv })
		if from < 0 {
			from = len(asked)
		}
		if err := wrongEvents(asked[from:min(len(asked), from+len(seen))], seen); err != nil {
			return fmt.Errorf("after the streamed list of %d: %w", l.rv, err)
		}
	}
	return nil
}

// watch starts watchers of every kind, which end when the function it
// returns is called.
func (h *histRecorder) watch(t *testing.T, from int64, apis []*harness.API, round int) ([]*histWatcher, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	watchers, kinds := make([]*histWatcher, histWatchers), h.kinds
	for i := range watchers {
		how := [...]string{histAll, histNamed, histSlow, histStreamed}[i/len(kinds)%4]
		w := &histWatcher{t: t, kind: kinds[i%len(kinds)], how: how, h: h, rv: from, apis: apis, at: i % len(apis), rnd: rand.New(rand.NewPCG(uint64(round), uint64(100+i)))}
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
