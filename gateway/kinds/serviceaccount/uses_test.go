package serviceaccount

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// labels is who writes labels; it fails as long as fails is set, and waits for hold.
type labels struct {
	mu    sync.Mutex
	wrote []string
	fails error
	hold  chan struct{}
}

func (l *labels) MergePatch(ctx context.Context, gr schema.GroupResource, namespace, name string, patch map[string]any) error {
	if l.hold != nil {
		select {
		case <-l.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrote = append(l.wrote, fmt.Sprint(gr.Resource, " ", namespace, "/", name, " ", patch))
	return l.fails
}

func (*labels) Fresh(context.Context) error { return nil }

func (l *labels) seen() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := strings.Join(l.wrote, "\n")
	l.wrote = nil
	return out
}

// secretUsed is a Secret whose token was used on a day.
func secretUsed(name, on string) *unstructured.Unstructured {
	s := &unstructured.Unstructured{Object: map[string]any{}}
	s.SetNamespace("ns")
	s.SetName(name)
	s.SetUID(types.UID("uid-" + name))
	if on != "" {
		s.SetLabels(map[string]string{lastUsed: on})
	}
	return s
}

// rendered is the value of a metric.
func rendered(t *testing.T, m *metrics.Metrics, name string) string {
	t.Helper()
	text, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, is := strings.CutPrefix(line, name+" "); is {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

const unrecorded = "wasmgate_legacy_token_uses_unrecorded_total"

// The day is written once for each Secret, which is meant by its uid, unless it is there
// or another gateway's clock is ahead.
func TestTheDayOfAUseIsWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which begins at 2000-01-01
		l, ctx := &labels{hold: make(chan struct{})}, t.Context()
		u := NewUses(l, nil, zerolog.Nop())
		go u.Run(ctx)
		for range 3 { // before the first is written, after which the Secret says so
			u.Of(secretUsed("a", ""))
		}
		u.Of(secretUsed("b", "1999-12-31"))
		u.Of(secretUsed("c", "2000-01-01"))
		u.Of(secretUsed("d", "2000-01-02"))
		close(l.hold)
		synctest.Wait()
		if got, want := l.seen(), "secrets ns/a map[metadata:map[labels:map[kubernetes.io/legacy-token-last-used:2000-01-01] uid:uid-a]]\n"+
			"secrets ns/b map[metadata:map[labels:map[kubernetes.io/legacy-token-last-used:2000-01-01] uid:uid-b]]"; got != want {
			t.Errorf("wrote %s, want %s", got, want)
		}
		u.now = func() time.Time { return time.Now().AddDate(0, 0, 1) }
		u.Of(secretUsed("a", "2000-01-01"))
		synctest.Wait()
		if got := l.seen(); !strings.Contains(got, "2000-01-02") {
			t.Errorf("the next day: %q", got)
		}
		(*Uses)(nil).Of(secretUsed("a", ""))
	})
}

// A write that fails is counted, told once until one succeeds, and not tried again for a
// minute. A Secret that is gone is no failure.
func TestUsesThatCannotBeNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := &labels{fails: errors.New("no store")}, metrics.New()
		var log bytes.Buffer
		u := NewUses(l, m.Tokens, zerolog.New(&log))
		go u.Run(t.Context())
		try := func(name string) string {
			u.Of(secretUsed(name, ""))
			synctest.Wait()
			return l.seen()
		}
		if try("a") == "" || try("b") == "" || try("a") != "" {
			t.Error("what failed is not left alone, or was not tried")
		}
		<-time.After(failedFor) // which ends when it is forgotten that the write failed
		synctest.Wait()
		if try("a") == "" {
			t.Error("what failed is never tried again")
		}
		if got := rendered(t, m, unrecorded+`{reason="write-failed"}`); got != "3" {
			t.Errorf("%s failed", got)
		}
		if got := strings.Count(log.String(), "no store"); got != 1 {
			t.Errorf("told %d times: %s", got, log.String())
		}
		l.fails = apierrors.NewNotFound(secrets, "c")
		for range 2 {
			if try("c") == "" {
				t.Error("a Secret that is gone is held back")
			}
		}
		l.fails = errors.New("no store")
		if try("d"); strings.Count(log.String(), "no store") != 2 {
			t.Error("the next trouble is not told")
		}
		if got := rendered(t, m, unrecorded+`{reason="write-failed"}`); got != "4" {
			t.Errorf("%s failed", got)
		}
		<-time.After(failedFor) // which ends when it is forgotten that the write failed
	})
}

// Nobody waits for a store that hangs, and what waits for it is bounded.
func TestUsesBeyondTheQueueAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := &labels{hold: make(chan struct{})}, metrics.New()
		u := NewUses(l, m.Tokens, zerolog.Nop())
		go u.Run(t.Context())
		u.Of(secretUsed("first", ""))
		synctest.Wait()
		for n := range mostUses + 3 {
			u.Of(secretUsed(fmt.Sprint(n), ""))
		}
		if got := rendered(t, m, unrecorded+`{reason="queue-full"}`); got != "3" {
			t.Errorf("%s were dropped", got)
		}
		close(l.hold)
		synctest.Wait()
		if got := strings.Count(l.seen(), "\n") + 1; got != mostUses+1 {
			t.Errorf("%d were written", got)
		}
		u.Of(secretUsed(fmt.Sprint(mostUses), ""))
		synctest.Wait()
		if l.seen() == "" {
			t.Error("what was dropped is never noted")
		}
	})
}

// As the engine writes it: the label comes to the Secret, and not to another of its name.
func TestTheLabelIsOnTheSecret(t *testing.T) {
	e := realengine.Start(t)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("ns"))
	made := controllertest.MustCreate(t, e, secrets, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "ns", "labels": map[string]any{"a": "b"}}})
	u := NewUses(e, nil, zerolog.Nop())
	other := made.DeepCopy()
	other.SetUID("other")
	of := func(one *unstructured.Unstructured) string {
		t.Helper()
		u.Of(one)
		if err := e.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		u.write(t.Context(), <-u.queue)
		return controllertest.MustGet(t, e, secrets, "ns", "s").GetLabels()[lastUsed]
	}
	if got := of(other); got != "" || !u.failing {
		t.Errorf("used on %q, by a token of another", got)
	}
	if got := of(made); got != day(time.Now()) || u.failing {
		t.Errorf("used on %q", got)
	}
	if l := controllertest.MustGet(t, e, secrets, "ns", "s").GetLabels(); l["a"] != "b" || len(u.pending) != 1 {
		t.Errorf("has %v, pending %v", l, u.pending)
	}
}
