package form

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// breaking is a connection that breaks at a flush.
type breaking struct {
	bytes.Buffer
	left int
}

func (b *breaking) Frame(_, body []byte, _ string) { b.Write(body) }

func (*breaking) Hold(func() bool) {}

func (b *breaking) Flush() error {
	if b.left--; b.left < 0 {
		return errors.New("gone")
	}
	return nil
}

// A watch ends with the first thing that cannot be sent: its head, or one of the objects
// that are there when it begins.
func TestWatchesEndWithWhatCannotBeSent(t *testing.T) {
	for left, want := range map[int]error{0: errLeft, 1: errUntold} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		s := &Stream{form: Form{as: "PartialObjectMetadataList"}, out: &breaking{left: left},
			watch: &read.Watch{Initial: []*view.Entry{view.NewEntry(storage.KV{Revision: 1, Value: []byte("{}")})}}}
		if err := s.run(ctx); !errors.Is(err, want) {
			t.Errorf("after %d flushes: %v, want %v", left, err, want)
		}
	}
}

// told is a connection that tells what comes on it, and breaks with the object called last.
type told struct {
	frames chan string
	broken bool
}

func (c *told) Write(p []byte) (int, error) {
	c.broken = c.broken || strings.Contains(string(p), `"name":"last"`)
	c.frames <- string(p)
	return len(p), nil
}

func (c *told) Frame(head, body []byte, tail string) {
	_, _ = c.Write([]byte(string(head) + string(body) + tail))
}

func (*told) Hold(func() bool) {}

func (c *told) Flush() error {
	if c.broken {
		return errors.New("gone")
	}
	return nil
}

// A watch goes on after what it has sent, and ends when its connection has broken.
func TestWatchesGoOnUntilTheConnectionBreaks(t *testing.T) {
	store := storagetest.NewMemory()
	served := catalog.New(catalog.Options{Store: store, Prefix: "/registry/", Builtins: catalogtest.Builtins(t), Compile: catalogtest.Compile})
	catalogtest.Run(t, served)
	r, v := served.Snapshot().Find("", "v1", "configmaps")
	target := resource.Target{Resource: r, Version: v, Namespace: "default"}
	w, err := read.New(store, served, nil, false).Watch(t.Context(), target, &internalversion.ListOptions{Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	out, events, ended := &told{frames: make(chan string, 10)}, 0, make(chan error, 1)
	s := NewStream(Form{media: encoding.JSON}, target, nil, 0, func(n int) { events += n }, func(bool) {})
	s.watch, s.out = w, out
	defer w.Stop()
	go func() { ended <- s.run(t.Context()) }()
	put := func(name string) {
		t.Helper()
		if _, err := store.Create(t.Context(), r.Key("default", name), []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+name+`","namespace":"default","uid":"u"}}`), 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "last"} {
		put(name)
		select {
		case frame := <-out.frames:
			if !strings.Contains(frame, `"type":"ADDED"`) || !strings.Contains(frame, `"name":"`+name+`"`) {
				t.Errorf("of %s came %s", name, frame)
			}
		case err := <-ended:
			t.Fatalf("before %s it ended: %v", name, err)
		case <-time.After(30 * time.Second):
			t.Fatalf("nothing came of %s", name)
		}
	}
	select {
	case err := <-ended:
		if !errors.Is(err, errLeft) || events != 3 {
			t.Errorf("it ended after %d events: %v", events, err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it goes on without a connection")
	}
}
