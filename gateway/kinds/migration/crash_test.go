package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/storage"
)

var errDead = errors.New("the gateway is dead")

// mortal is a gateway that dies at one of its writes, before or after it, and
// does nothing more.
type mortal struct {
	after bool
	died  chan struct{}

	mu   sync.Mutex
	left int
}

func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	m.left--
	left := m.left
	m.mu.Unlock()
	if left > 0 || left == 0 && m.after {
		if err := do(); left > 0 {
			return err
		}
	}
	if left == 0 {
		close(m.died)
	}
	return errDead
}

// mortalObjects are the objects of a mortal gateway, mortalStore its store.
type mortalObjects struct {
	Objects
	*mortal
}

func (m mortalObjects) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (out *unstructured.Unstructured, err error) {
	err = m.write(func() error {
		out, err = m.Objects.Update(ctx, gr, subresource, obj)
		return err
	})
	return out, err
}

type mortalStore struct {
	storage.Store
	*mortal
}

func (m mortalStore) While(key string, rev int64) storage.GuardedWriter {
	return mortalWriter{m.Store.While(key, rev), m.mortal}
}

type mortalWriter struct {
	storage.GuardedWriter
	*mortal
}

func (m mortalWriter) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (written int64, err error) {
	err = m.write(func() error {
		written, err = m.GuardedWriter.Update(ctx, key, value, rev, ttl)
		return err
	})
	return written, err
}

// TestMigrationKilledAtEachWrite kills the gateway before and after each write of
// a migration in turn, until there is none more. Whichever it was, nothing is
// trimmed before all is rewritten, and the next gateway ends the migration and
// says of it what was done.
func TestMigrationKilledAtEachWrite_CRD32_CRD33(t *testing.T) {
	steps := map[string]int{}
	// How many writes there are depends on what they coincide with, by one or two.
	for n, idle := 1, 0; idle < 3; n++ {
		idle++
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, after it %t", n, after), func(t *testing.T) {
				step := killAt(t, n, after)
				if step != "it was over" {
					idle = 0
				}
				steps[step]++
			})
		}
	}
	t.Log(steps)
	for _, step := range []string{"nothing rewritten", "some rewritten", "all rewritten", "trimmed"} {
		if steps[step] == 0 {
			t.Errorf("it was never killed with %s", step)
		}
	}
}

// killAt kills a gateway at its n-th write and returns how far it had come.
func killAt(t *testing.T, n int, after bool) (step string) {
	w := newWorld(t, 2)
	const objects = 4
	m := &mortal{after: after, left: n, died: make(chan struct{})}
	first := Passes{Catalog: w.Catalog, Store: mortalStore{w.Store, m}, Metrics: w.rewriter.Metrics}
	stop := controllertest.Start(t, w, New(mortalObjects{w, m}, first, first))
	w.order()
	over := make(chan struct{})
	go func() { defer close(over); w.is("Succeeded") }()
	select {
	case <-m.died:
	case <-over:
		select {
		case <-m.died: // at the last write
		default:
			return "it was over"
		}
	}
	stop()
	rewritten, trimmed := w.versions()["v1"], slices.Equal(w.storedVersions(), []string{"v1"})
	switch {
	case trimmed && rewritten < objects:
		t.Errorf("trimmed with %d of %d objects rewritten", rewritten, objects)
	case trimmed:
		step = "trimmed"
	case rewritten == objects:
		step = "all rewritten"
	case rewritten > 0:
		step = "some rewritten"
	default:
		step = "nothing rewritten"
	}
	w.migrate(w)
	<-over
	if got := w.versions(); got["v1"] != objects || len(got) != 1 {
		t.Errorf("stored: %v", got)
	}
	if got := w.storedVersions(); !slices.Equal(got, []string{"v1"}) {
		t.Errorf("storedVersions %v", got)
	}
	var said State
	text := controllertest.MustGet(t, w, gvr.Migrations, "", "move").GetAnnotations()[ProgressAnnotation]
	if err := json.Unmarshal([]byte(text), &said); err != nil || said.Done != objects || said.Rewritten != objects || said.Skipped != 0 {
		t.Errorf("it says %s", text)
	}
	return step
}
