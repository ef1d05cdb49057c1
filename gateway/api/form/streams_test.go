package form

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// served are ConfigMaps in a store.
type served struct {
	*read.Reader
	resource.Target
	store *storagetest.Memory
	t     *testing.T
}

func serve(t *testing.T) *served {
	store := storagetest.NewMemory()
	all := catalog.New(catalog.Options{Store: store, Prefix: "/registry/", Builtins: catalogtest.Builtins(t), Compile: catalogtest.Compile})
	catalogtest.Run(t, all)
	r, v := all.Snapshot().Find("", "v1", "configmaps")
	return &served{read.New(store, all, nil, false), resource.Target{Resource: r, Version: v, Namespace: "default"}, store, t}
}

// put stores a ConfigMap and waits until it is served; text is its data.
func (s *served) put(name, text string) {
	s.t.Helper()
	body := `{"apiVersion":"v1","data":{"k":"` + text + `"},"kind":"ConfigMap","metadata":{"name":"` + name + `","namespace":"default","uid":"u","managedFields":[]}}`
	if text == "unreadable" {
		body = "x"
	}
	rev, err := s.store.Create(s.t.Context(), s.Resource.Key("default", name), []byte(body), 0)
	if err == nil {
		_, err = s.List(s.t.Context(), s.Target, &internalversion.ListOptions{ResourceVersion: fmt.Sprint(rev), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Limit: 1})
	}
	if err != nil && text != "unreadable" {
		s.t.Fatal(err)
	}
}

// watch begins a watch with what exists, which ends with a bookmark.
func (s *served) watch() *read.Watch {
	s.t.Helper()
	yes := true
	w, err := s.Watch(s.t.Context(), s.Target, &internalversion.ListOptions{Watch: true, SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// formOf is what a client that sends an Accept header wants.
func (s *served) formOf(accept string) Form {
	s.t.Helper()
	f, err := OfferOf(s.Target, true, true).Negotiate(accept)
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

// sent collects frames; it breaks with the flush after so many, unless that is negative.
type sent struct {
	mu      sync.Mutex
	frames  []string // guarded by mu while the stream goes on
	flushes int
	left    int
	hold    func() bool
}

func (s *sent) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// seen are the frames until now.
func (s *sent) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.frames)
}

func (s *sent) Frame(head, body []byte, tail string) {
	_, _ = s.Write([]byte(string(head) + string(body) + tail))
}

func (s *sent) Hold(while func() bool) { s.hold = while }

func (s *sent) Flush() error {
	if s.flushes++; s.left >= 0 && s.flushes > s.left {
		return errors.New("gone")
	}
	return nil
}

const (
	asTable, asPart, asParts = "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
)

// A watch begins with what there is, and has bookmarks when something happened since the last
// one, and shortly before it ends.
func TestStreamsHaveBookmarks_WATCH(t *testing.T) {
	for accept, want := range map[string][]string{
		encoding.TypeJSON: {
			`{"type":"ADDED","object":{"apiVersion":"v1","data":{"k":"text"},"kind":"ConfigMap","metadata":{"managedFields":[],"name":"a","namespace":"default","resourceVersion":"2","uid":"u"}}}`,
			`{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`,
			`"name":"b"`, `{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"3"}}}`, `"name":"c"`, `{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"4"}}}`,
		},
		asPart: {
			`{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a",`,
			`{"type":"BOOKMARK","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`,
			`"name":"b"`, `"metadata":{"resourceVersion":"3"}`, `"name":"c"`, `"metadata":{"resourceVersion":"4"}`,
		},
		asTable: {
			`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"2"},"columnDefinitions":[{"name":"Name"`,
			`{"type":"BOOKMARK","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"2"},"columnDefinitions":null,"rows":[{"cells":["",0,`,
			`"columnDefinitions":null,"rows":[{"cells":["b",1,`, `{"type":"BOOKMARK"`, `"columnDefinitions":null,"rows":[{"cells":["c",1,`, `"metadata":{"resourceVersion":"4"}`,
		},
	} {
		t.Run(accept, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := serve(t)
				x.put("a", "text")
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				out, events, begun, ended := &sent{left: -1}, 0, 0, make(chan struct{})
				s := NewStream(x.formOf(accept), x.Target, nil, 10*time.Second, func(n int) { events += n }, func(bool) { begun++ })
				go func() {
					defer close(ended)
					s.Send(ctx, x.watch(), nil, out)
				}()
				come := func(after time.Duration, n int) {
					t.Helper()
					<-time.After(after)
					synctest.Wait()
					if seen := out.seen(); len(seen) != n {
						t.Errorf("after %s there are %d frames, want %d: %.2000q", after, len(seen), n, seen)
					}
				}
				come(time.Second, 2)
				if begun == 0 {
					t.Error("it has not begun")
				}
				come(24*time.Second, 2) // nothing has happened
				x.put("b", "text")
				come(time.Second, 3)
				come(25*time.Second, 4) // one is enough
				x.put("c", "text")      // in second 51; the next bookmark were due in second 60
				come(6*time.Second, 5)
				come(2*time.Second, 6)
				<-ended
				if len(out.frames) != len(want) || events != 3 {
					t.Fatalf("%d frames, %d events", len(out.frames), events)
				}
				for i, part := range want {
					if !strings.Contains(out.frames[i], part) {
						t.Errorf("frame %d: %s\nwant %s", i, out.frames[i], part)
					}
				}
			})
		})
	}
}

// A watch that may have no bookmarks has none, and neither has one that ends at once.
func TestStreamsWithoutBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for every, within := range map[time.Duration]time.Duration{0: time.Hour, time.Second: lastBookmark} {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			if (&Stream{bookmarks: every}).nextBookmark(ctx) != nil {
				t.Errorf("there is one every %s within %s", every, within)
			}
			cancel()
		}
		ctx, cancel := context.WithTimeout(t.Context(), lastBookmark+1)
		defer cancel()
		if (&Stream{bookmarks: time.Second}).nextBookmark(ctx) == nil {
			t.Error("there is none just before the end")
		}
	})
}

// Whichever flush it is that fails, it is the last, and tells nothing more.
func TestStreamsEndWithAFlushThatFails(t *testing.T) {
	x := serve(t)
	for i := range initialPiece + 1 {
		x.put(fmt.Sprintf("c%03d", i), "text")
	}
	for left := range 4 { // the head, two pieces, the bookmark
		out := &sent{left: left}
		NewStream(x.formOf(""), x.Target, nil, 0, func(int) {}, func(bool) {}).Send(t.Context(), x.watch(), nil, out)
		if out.flushes != left+1 {
			t.Errorf("after %d flushes there were %d", left, out.flushes)
		}
	}
	out := &sent{left: 1}
	large := serve(t)
	for i := range 3 {
		large.put(fmt.Sprint(i), strings.Repeat("x", maxCollected))
	}
	NewStream(large.formOf(""), large.Target, nil, 0, func(int) {}, func(bool) {}).Send(t.Context(), large.watch(), nil, out)
	if out.flushes != 2 || len(out.frames) != 1 {
		t.Errorf("%d large objects were sent in %d flushes", len(out.frames), out.flushes)
	}
}

// What ends a watch is told, unless nobody is there, or its form has no words for it.
func TestWhatEndsAStreamIsTold(t *testing.T) {
	x := serve(t)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, c := range map[string]struct {
		accept  string
		ctx     context.Context
		refused error
		want    []string
	}{
		"refused":          {"", t.Context(), apierrors.NewResourceExpired("old"), []string{`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"old","reason":"Expired","code":410}}`}},
		"refused a person": {"application/json;pretty=1", t.Context(), apierrors.NewResourceExpired("old"), []string{`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"old","reason":"Expired","code":410}}`}},
		"nobody there":     {"", gone, apierrors.NewResourceExpired("old"), nil},
		"it left":          {"", t.Context(), errLeft, nil},
		"no words":         {asParts, t.Context(), nil, nil},
	} {
		out := &sent{left: -1}
		var w *read.Watch
		if c.refused == nil {
			w = x.watch()
		}
		NewStream(x.formOf(c.accept), x.Target, nil, 0, func(int) {}, func(bool) {}).Send(c.ctx, w, c.refused, out)
		if !slices.Equal(out.frames, c.want) {
			t.Errorf("%s: %q", name, out.frames)
		}
		if out.hold != nil != (c.refused == nil) {
			t.Errorf("%s: held: %v", name, out.hold != nil)
		}
	}
	x.put("bad", "unreadable")
	for _, accept := range []string{"", asTable} {
		out := &sent{left: -1}
		NewStream(x.formOf(accept), x.Target, nil, 0, func(int) {}, func(bool) {}).Send(t.Context(), x.watch(), nil, out)
		if len(out.frames) != 1 || !strings.HasPrefix(out.frames[0], `{"type":"ERROR","object":{"kind":"Status",`) || !strings.Contains(out.frames[0], `"code":500`) {
			t.Errorf("%q, with what is unreadable: %q", accept, out.frames)
		}
	}
}

// A table that is refused ends its watch, before anything and before a bookmark.
func TestStreamsOfTablesThatAreRefused(t *testing.T) {
	for _, objects := range []int{0, 1} {
		x := serve(t)
		if objects > 0 {
			x.put("a", "text")
		}
		out := &sent{left: -1}
		NewStream(x.formOf(asTable), x.Target, map[string][]string{"includeObject": {"Odd"}}, 0, func(int) {}, func(bool) {}).Send(t.Context(), x.watch(), nil, out)
		if len(out.frames) != 1 || !strings.Contains(out.frames[0], `Unable to convert to Table as requested: includeObject: Invalid value: \"Odd\": must be 'Metadata', 'Object', 'None', or empty`) {
			t.Errorf("with %d objects: %q", objects, out.frames)
		}
	}
}

// A connection is held for a client that does not read as long as the watch goes on.
func TestWhatHoldsAConnection(t *testing.T) {
	x := serve(t)
	ctx, leave := context.WithCancel(t.Context())
	out, begun, w := &sent{left: 0}, 0, x.watch()
	NewStream(x.formOf(""), x.Target, nil, 0, func(int) {}, func(bool) { begun++ }).Send(ctx, w, nil, out)
	if !out.hold() || begun != 1 {
		t.Errorf("it is let go, begun %d times", begun)
	}
	leave()
	if out.hold() {
		t.Error("it is held for who left")
	}
	over := make(chan struct{})
	close(over)
	if w.Replaced = over; out.hold() {
		t.Error("it is held though the watch is over")
	}
}
