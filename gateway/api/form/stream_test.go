package form

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
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
	x := serve(t)
	x.put("one", "")
	for left, want := range map[int]error{0: errLeft, 1: errUntold} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		w := x.watch()
		defer w.Stop()
		s := &Stream{form: Form{as: "PartialObjectMetadataList"}, out: &breaking{left: left}, watch: w}
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

// begun is a stream of a watch that begins with nothing, which breaks with the flush after so
// many, unless that is negative; more come after what was put already.
func begun(t *testing.T, x *served, left int) (*Stream, *sent) {
	t.Helper()
	w, err := x.Watch(t.Context(), x.Target, &internalversion.ListOptions{Watch: true, ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	out := &sent{left: left}
	s := NewStream(x.formOf(encoding.TypeJSON), x.Target, nil, 0, func(int) {}, func(bool) {})
	s.watch, s.out = w, out
	return s, out
}

// What is left of a kind that is served no longer is sent, and what cannot be sent any more
// ends the watch, all the same.
func TestWatchesOfWhatIsReplaced(t *testing.T) {
	replaced := make(chan struct{})
	close(replaced)
	for name, c := range map[string]struct {
		put    string
		left   int
		want   error
		frames int
	}{
		"nothing is left":         {"", -1, nil, 0},
		"something is":            {"text", -1, nil, 1},
		"for nobody":              {"", 1, errLeft, 0},
		"what cannot be shown is": {"unreadable", 1, nil, 0},
	} {
		x := serve(t)
		s, out := begun(t, x, c.left)
		s.watch.Replaced = replaced
		if c.put != "" {
			x.put("a", c.put)
			<-s.watch.Wait()
		}
		if err := s.run(t.Context()); !errors.Is(err, c.want) || len(out.frames) != c.frames {
			t.Errorf("%s: %v, %q", name, err, out.frames)
		}
	}
}

// An object that cannot be shown ends a watch, and that is told.
func TestWatchesEndWithWhatCannotBeShown(t *testing.T) {
	x := serve(t)
	s, out := begun(t, x, -1)
	x.put("a", "text")
	x.put("b", "unreadable")
	s.Send(t.Context(), s.watch, nil, out)
	if n := len(out.frames); n == 0 || !strings.HasPrefix(out.frames[n-1], `{"type":"ERROR","object":{`) {
		t.Errorf("%q", out.frames)
	}
}

// So does one of which it cannot be known whether it was asked for.
func TestWatchesEndWithWhatCannotBeSelected(t *testing.T) {
	x := serve(t)
	selector, err := labels.Parse("a=b")
	if err != nil {
		t.Fatal(err)
	}
	w, err := x.Watch(t.Context(), x.Target, &internalversion.ListOptions{Watch: true, ResourceVersion: "1", LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	x.put("b", "unreadable")
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	out := &sent{left: -1}
	NewStream(x.formOf(encoding.TypeJSON), x.Target, nil, 0, func(int) {}, func(bool) {}).Send(ctx, w, nil, out)
	if len(out.frames) != 1 || !strings.HasPrefix(out.frames[0], `{"type":"ERROR","object":{`) || ctx.Err() != nil {
		t.Errorf("%q, %v", out.frames, ctx.Err())
	}
}

// Of much that has happened, each piece is sent before the next one is made.
func TestManyChangesAreSentInPieces(t *testing.T) {
	x := serve(t)
	for i := range 300 {
		x.put(fmt.Sprintf("c%03d", i), "text")
	}
	for left, want := range map[int]error{0: errLeft, -1: nil} {
		s, out := begun(t, x, left)
		if err := s.pending(t.Context()); !errors.Is(err, want) {
			t.Errorf("it breaks after %d flushes: %v", left, err)
		}
		if n := len(out.frames); want != nil && (n == 0 || n == 300) || want == nil && n != 300 {
			t.Errorf("it breaks after %d flushes: %d frames", left, n)
		}
	}
}
