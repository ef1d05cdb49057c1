package e2e

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	crashRounds  = 10
	crashWriters = 32
	// crashAfter is how many writes are acknowledged in a round before the
	// gateway is killed.
	crashAfter = 400
)

// TestCrash kills the gateway ten times while 32 clients write.
func TestCrash(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	t.Run("PER-01 every acknowledged write is kept, none happens twice", func(t *testing.T) {
		g := harness.Start(t, harness.Options{})
		c := newCronTabs(t, &g.Server, nil)
		l := &ledger{created: map[string]string{}, acked: make(chan struct{}, 1<<16)}
		writers := make([]*crashWriter, crashWriters)
		for i := range writers {
			writers[i] = &crashWriter{c: c, l: l, name: fmt.Sprintf("counter-%d", i)}
			c.create(writers[i].name)
		}
		for round := range crashRounds {
			crash(t, g, writers)
			c.awaitServed("v1")
			for _, w := range writers {
				w.check(t)
			}
			l.check(t, c)
			if t.Failed() {
				t.Fatalf("after %d rounds", round+1)
			}
		}
		t.Logf("%d creations acknowledged", len(l.created))
	})
}

// crash lets the writers write, kills the gateway under them and starts it
// again.
func crash(t *testing.T, g *harness.Gateway, writers []*crashWriter) {
	t.Helper()
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, w := range writers {
		running.Add(1)
		go func() {
			defer running.Done()
			w.run(t, stop)
		}()
	}
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for n := 0; n < crashAfter && !t.Failed(); n++ {
		select {
		case <-writers[0].l.acked:
		case <-late.C:
			t.Errorf("the gateway acknowledged only %d writes", n)
		}
	}
	g.Kill(t)
	close(stop)
	running.Wait()
	g.Restart(t)
}

// ledger is what the gateway acknowledged to all writers.
type ledger struct {
	mu      sync.Mutex
	created map[string]string // by operation: the name the server gave
	acked   chan struct{}
	next    int
}

func (l *ledger) operation() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return fmt.Sprintf("op-%d", l.next)
}

func (l *ledger) acknowledge(operation, name string) {
	if operation != "" {
		l.mu.Lock()
		l.created[operation] = name
		l.mu.Unlock()
	}
	select {
	case l.acked <- struct{}{}:
	default:
	}
}

// check compares what exists with what was acknowledged. An operation that was
// not acknowledged may have happened, but once.
func (l *ledger) check(t *testing.T, c *cronTabs) {
	t.Helper()
	found := map[string][]string{}
	for _, o := range c.api.Get(c.list("v1") + "?labelSelector=operation").Want(200).Object().Items() {
		op := o.Str("metadata.labels.operation")
		found[op] = append(found[op], o.Str("metadata.name"))
	}
	for op, name := range l.created {
		if names := found[op]; len(names) != 1 || names[0] != name {
			t.Errorf("%s made %s, and now there is %v", op, name, names)
		}
	}
	for op, names := range found {
		if len(names) > 1 {
			t.Errorf("%s happened %d times", op, len(names))
		}
	}
}

// crashWriter counts up in one object and creates others. sent is the highest
// count it asked for, acked the highest that was acknowledged.
type crashWriter struct {
	c           *cronTabs
	l           *ledger
	name        string
	sent, acked int64
}

func (w *crashWriter) run(t *testing.T, stop <-chan struct{}) {
	rv, ok := w.read()
	if !ok {
		t.Errorf("%s cannot be read before the crash", w.name)
		return
	}
	for {
		select {
		case <-stop:
			return
		default:
		}
		op := w.l.operation()
		o := w.c.object("v1", "", `{}`)
		o["metadata"] = map[string]any{"generateName": "made-", "labels": map[string]any{"operation": op}}
		r, err := w.c.api.Try("POST", w.c.list("v1"), o)
		if err != nil {
			return
		}
		if r.Code != 201 {
			t.Errorf("create: %d %s", r.Code, r.Body)
			return
		}
		w.l.acknowledge(op, r.Str("metadata.name"))

		w.sent = w.acked + 1
		body := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"spec":{"replicas":%d}}`, rv, w.sent)
		r, err = w.c.api.Try("PATCH", w.c.path("v1", w.name), body, "Content-Type", mergePatch)
		if err != nil {
			return
		}
		if r.Code != 200 {
			t.Errorf("%s: %d %s", w.name, r.Code, r.Body)
			return
		}
		w.acked, rv = w.sent, r.Object().RV()
		w.l.acknowledge("", "")
	}
}

// read learns where the counter stands, and returns its revision.
func (w *crashWriter) read() (rv string, ok bool) {
	r, err := w.c.api.Try("GET", w.c.path("v1", w.name), nil)
	if err != nil || r.Code != 200 {
		return "", false
	}
	var o struct {
		Metadata struct{ ResourceVersion string }
		Spec     struct{ Replicas int64 }
	}
	if json.Unmarshal(r.Body, &o) != nil {
		return "", false
	}
	w.acked = o.Spec.Replicas
	return o.Metadata.ResourceVersion, true
}

// check holds the counter against what was acknowledged before the crash.
func (w *crashWriter) check(t *testing.T) {
	t.Helper()
	acked := w.acked
	if _, ok := w.read(); !ok {
		t.Errorf("%s is gone", w.name)
	} else if w.acked < acked || w.acked > w.sent && w.sent > 0 {
		t.Errorf("%s is at %d; asked for was %d, acknowledged %d", w.name, w.acked, w.sent, acked)
	}
}
