package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

// often has many bookmarks fall due during any request.
func often(c *Setup) { c.BookmarkInterval = 20 * time.Microsecond }

func TestWatch_EventsInOrder_WATCH01(t *testing.T) {
	w := newWorld(t)
	w.do("POST", widgets, a("old", `"size":1`)).want(201, "")
	f := w.watch(t, widgets+"?watch=1", nil)
	if e := f.want("ADDED", "old"); e.Object.Kind != "Widget" || e.Object.APIVersion != "example.com/v1" || e.Object.Spec["size"] != 1.0 {
		t.Errorf("%s", e.raw)
	}
	w.do("POST", widgets, a("new", "")).want(201, "")
	f.want("ADDED", "new")
	w.do("PUT", widgets+"/old", strings.Replace(w.do("GET", widgets+"/old", "").body, `"size":1`, `"size":2`, 1)).want(200, "")
	if e := f.want("MODIFIED", "old"); e.Object.Spec["size"] != 2.0 {
		t.Errorf("%s", e.raw)
	}
	w.do("DELETE", widgets+"/new", "").want(200, "")
	f.want("DELETED", "new")
	f.end()
	if e, ok := f.next(); ok {
		t.Errorf("after the end: %s", e.raw)
	}
	if w.observed.mu.Lock(); w.observed.sent != 4 {
		t.Errorf("%d events were counted", w.observed.sent)
	}
	w.observed.mu.Unlock()
}

func TestWatch_Forms(t *testing.T) {
	w := newWorld(t)
	const meta = "Accept: application/json;g=meta.k8s.io;v=v1;as="
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	w.do("POST", widgets, a("two", `"size":2`)).want(201, "")
	partial := w.watch(t, widgets+"?watch=1", nil, meta+"PartialObjectMetadata")
	for _, name := range []string{"one", "two"} {
		if e := partial.want("ADDED", name); e.Object.Kind != "PartialObjectMetadata" || e.Object.APIVersion != "meta.k8s.io/v1" || e.Object.Spec != nil {
			t.Errorf("%s", e.raw)
		}
	}
	// Of the tables of one watch only the first says what its columns are.
	table := w.watch(t, widgets+"?watch=1", nil, meta+"Table")
	for i, name := range []string{"one", "two"} {
		e, _ := table.next()
		if e.Type != "ADDED" || e.Object.Kind != "Table" || len(e.Object.Rows) != 1 || e.Object.Rows[0].Cells[0] != name || (len(e.Object.Columns) > 0) != (i == 0) {
			t.Errorf("%s", e.raw)
		}
	}
	// An event is no list: a watch that is to tell of one ends.
	for _, query := range []string{"?watch=1", "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&labelSelector=none"} {
		if e, ok := w.watch(t, widgets+query, nil, meta+"PartialObjectMetadataList").next(); ok {
			t.Errorf("%s: %s", query, e.raw)
		}
	}
	for _, accept := range []string{"Accept: application/yaml", "Accept: text/html"} {
		w.do("GET", widgets+"?watch=1", "", accept).want(406, "NotAcceptable")
	}
}

// What can be refused is refused before the stream begins; a start that is too
// old is an event of it.
func TestWatch_Refusals(t *testing.T) {
	w := newWorld(t)
	w.do("GET", widgets+"?watch=1&resourceVersion=x", "").want(400, "")
	w.do("GET", widgets+"?watch=1&labelSelector=,,", "").want(400, "")
	w.do("GET", widgets+"?watch=1&limit=%zz", "").want(400, "")
	w.do("GET", widgets+"?watch=1&timeout=x&resourceVersion=x", "").want(400, "invalid resource version")
	w.do("GET", "/apis/example.com/v1/nothings?watch=1", "").want(404, "")
	f := w.watch(t, widgets+"?watch=1&resourceVersion=1", nil)
	if e, ok := f.next(); !ok || e.Type != "ERROR" || e.Object.Kind != "Status" || e.Object.Code != 410 {
		t.Errorf("%s", e.raw)
	}
	if e, ok := f.next(); ok {
		t.Errorf("after the error: %s", e.raw)
	}
	f = w.watch(t, widgets+"?watch=1&resourceVersion=999999999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", nil)
	if e, ok := f.next(); !ok || e.Type != "ERROR" || e.Object.Kind != "Status" || e.Object.Code != 504 {
		t.Errorf("a streamed list of the future: %s", e.raw)
	}
}

// The paths of before there was a parameter watch, too.
func TestWatch_OldPaths(t *testing.T) {
	w := newWorld(t)
	w.do("POST", widgets, a("one", "")).want(201, "")
	w.do("POST", widgets, a("two", "")).want(201, "")
	w.do("POST", configMaps, `{"metadata":{"name":"c"}}`).want(201, "")
	const group, namespace = "/apis/example.com/v1/watch", "/namespaces/default"
	for path, names := range map[string][]string{
		group + "/widgets": {"one", "two"}, group + namespace + "/widgets": {"one", "two"}, group + namespace + "/widgets/two": {"two"},
		group + namespace + "/widgets/two?fieldSelector=metadata.name%3Dtwo": {"two"}, group + "/widgets?watch=0&continue=x": {"one", "two"},
		"/api/v1/watch/configmaps": {"c"}, "/api/v1/watch" + namespace + "/configmaps/c": {"c"}, "/api/v1/watch" + namespace: {"default"},
	} {
		f := w.watch(t, path, nil)
		for _, name := range names {
			f.want("ADDED", name)
		}
	}
	f := w.watch(t, group+namespace+"/widgets/three", nil)
	w.do("POST", widgets, a("four", "")).want(201, "")
	w.do("POST", widgets, a("three", "")).want(201, "")
	f.want("ADDED", "three")
	w.do("GET", group+namespace+"/widgets/two?fieldSelector=metadata.name%3Done", "").want(400, "fieldSelector metadata.name doesn't match requested name")
	w.do("POST", group+"/widgets", `{}`).want(405, "watch is not supported")
	w.do("DELETE", "/api/v1/watch"+namespace+"/configmaps/c", "").want(405, "")
	w.do("GET", group+namespace+"/widgets/two/status", "").want(405, "watch is not supported")
	w.do("GET", "/api/v1/watch"+namespace+"/pods/p/log", "").want(404, "")
	w.do("GET", group+"/nothings", "").want(404, "")
	w.do("GET", "/api/v1/watch", "").want(404, "")
}

// A namespace of no name is every namespace to who reads collections.
func TestEmptyNamespace(t *testing.T) {
	w := newWorld(t)
	w.do("POST", widgets, a("one", "")).want(201, "")
	w.do("POST", configMaps, `{"metadata":{"name":"c"}}`).want(201, "")
	w.do("GET", "/apis/example.com/v1/namespaces//widgets", "").want(200, `"name":"one"`)
	w.do("GET", "/api/v1/namespaces//configmaps", "").want(200, `"name":"c"`)
	w.watch(t, "/api/v1/namespaces//configmaps?watch=1", nil).want("ADDED", "c")
	for _, method := range []string{"GET", "PUT", "PATCH", "DELETE"} {
		w.do(method, "/api/v1/namespaces//configmaps/c", `{}`).want(400, "Namespace parameter required.")
		w.do(method, "/apis/example.com/v1/namespaces//widgets/one", `{}`).want(404, "")
	}
	w.do("DELETE", "/api/v1/namespaces//configmaps", "").want(400, "Namespace parameter required.")
	w.do("POST", "/api/v1/namespaces//configmaps", `{"metadata":{"name":"d","namespace":"default"},"data":{"..":""}}`).want(422, `ConfigMap \"d\" is invalid: [metadata.namespace: Required value, data[..]: Invalid value`)
	w.do("DELETE", "/apis/example.com/v1/namespaces//widgets", "").want(404, "")
	w.do("GET", "/api/v1/namespaces//nodes", "").want(404, "")
	w.do("GET", configMaps+"/c", "").want(200, "")
}

// A version that nothing can be converted to is told so in the stream.
func TestWatch_OfWhatCannotBeConverted(t *testing.T) {
	w := newWorld(t)
	const old = "/apis/example.com/v1beta1/namespaces/default/widgets"
	early := w.watch(t, old+"?watch=1", nil)
	w.converter.broken.Store(true)
	w.do("POST", widgets, a("one", "")).want(201, "")
	late := w.watch(t, old+"?watch=1", nil)
	for _, f := range []*watching{early, late} {
		if e, ok := f.next(); !ok || e.Type != "ERROR" || e.Object.Code != 500 {
			t.Errorf("%s", e.raw)
		}
		if e, ok := f.next(); ok {
			t.Errorf("after the error: %s", e.raw)
		}
	}
	w.do("GET", old, "").want(500, "broken")
	w.do("GET", old+"/one", "").want(500, "broken")
	// Metadata needs no converter.
	w.do("GET", old, "", metaForm+"PartialObjectMetadataList").want(200, `"name":"one"`)
	w.watch(t, old+"?watch=1", nil, metaForm+"PartialObjectMetadata").want("ADDED", "one")
	w.watch(t, widgets+"?watch=1", nil).want("ADDED", "one")
}

// What cannot be shown in the client's form is told so in the stream.
func TestWatch_OfWhatCannotBeShown(t *testing.T) {
	w := newWorld(t)
	w.do("POST", widgets, a("one", "")).want(201, "")
	failed := func(f *watching, code int) {
		t.Helper()
		if e, ok := f.next(); !ok || e.Type != "ERROR" || e.Object.Code != code {
			t.Errorf("%s", e.raw)
		}
		if e, ok := f.next(); ok {
			t.Errorf("after the error: %s", e.raw)
		}
	}
	failed(w.watch(t, widgets+"?watch=1&includeObject=x", nil, metaForm+"Table"), 400)
	f := w.watch(t, widgets+"?watch=1", nil, metaForm+"PartialObjectMetadata")
	f.want("ADDED", "one")
	w.store.Apply(storage.Event{KV: storage.KV{Key: "/registry/example.com/widgets/default/bad", Value: []byte("x")}})
	failed(f, 500)
}

// A definition that changes ends its watches cleanly, so that clients ask
// again and get the new form.
func TestWatch_EndsWhenTheDefinitionGoes(t *testing.T) {
	w := newWorld(t)
	f := w.watch(t, widgets+"?watch=1", nil)
	w.do("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", "").want(200, "")
	if e, ok := f.next(); ok {
		t.Errorf("an event: %s", e.raw)
	}
}

func TestWatch_EndsInTime(t *testing.T) {
	w := newWorld(t, func(c *Setup) { c.MinWatchTimeout = 5 * time.Millisecond })
	for _, query := range []string{"?watch=1", "?watch=1&timeoutSeconds=1"} {
		if e, ok := w.watch(t, widgets+query, nil).next(); ok {
			t.Errorf("%s: %s", query, e.raw)
		}
	}
	for seconds, want := range map[int64]time.Duration{1: time.Second, 600: 10 * time.Minute, 1 << 62: maxLifetime} {
		if got := lifetime(&internalversion.ListOptions{TimeoutSeconds: &seconds}, w.MinWatchTimeout); got != want {
			t.Errorf("%d seconds: %s", seconds, got)
		}
	}
	zero := int64(0)
	for range 100 {
		for _, o := range []*internalversion.ListOptions{{}, {TimeoutSeconds: &zero}} {
			if got := lifetime(o, w.MinWatchTimeout); got < w.MinWatchTimeout || got > 2*w.MinWatchTimeout {
				t.Errorf("without a time: %s", got)
			}
		}
	}
}

func TestBookmarks_HaveOnlyARevision_WATCH06(t *testing.T) {
	w := newWorld(t, often)
	w.do("POST", widgets, a("one", "")).want(201, "")
	for accept, kind := range map[string]string{
		"application/json": "Widget example.com/v1",
		"application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata": "PartialObjectMetadata meta.k8s.io/v1",
	} {
		f := w.watch(t, widgets+"?watch=1&allowWatchBookmarks=true", nil, "Accept: "+accept)
		f.want("ADDED", "one")
		f.want("BOOKMARK", "") // who begins with what exists is told that this was all
		// The revision moves on without an event of these objects.
		w.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"x"}}`).want(201, "")
		e := f.want("BOOKMARK", "")
		if got := e.Object.Kind + " " + e.Object.APIVersion; got != kind || len(e.Object.Metadata) != 1 || e.Object.Spec != nil || e.version() == "" {
			t.Errorf("%s", e.raw)
		}
	}
}

// Nor has the bookmark of a built-in kind's metadata what the kind's Go type writes
// when it is empty.
func TestBookmarks_OfMetadataAreMetadata_WATCH06(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/namespaces/default/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=3"
	f := w.watch(t, path, nil, "Accept: application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata")
	e := f.want("BOOKMARK", "")
	var object struct{ Object map[string]any }
	if err := json.Unmarshal([]byte(e.raw), &object); err != nil {
		t.Fatal(err)
	}
	f.next() // which is its end
	if o := object.Object; o["kind"] != "PartialObjectMetadata" || o["apiVersion"] != "meta.k8s.io/v1" || len(o) != 3 || w.observed.lists.Load() != 1 {
		t.Errorf("%d watches told what there was, %s", w.observed.lists.Load(), e.raw)
	}
}

// A watch of nothing and one of everything that exists both tell where the initial
// events end, whether the client asked for these or not: kube-apiserver takes them
// for streamed lists.
func TestBookmarks_EndInitialEventsUnasked_WATCH09_RV11_RV12(t *testing.T) {
	w := newWorld(t)
	for _, query := range []string{"", "&resourceVersion=", "&resourceVersion=0"} {
		e := w.watch(t, widgets+"?watch=1&allowWatchBookmarks=true"+query, nil).want("BOOKMARK", "")
		if marks, _ := e.Object.Metadata["annotations"].(map[string]any); marks[metav1.InitialEventsAnnotationKey] != "true" || e.version() == "" {
			t.Errorf("%s: %s", query, e.raw)
		}
	}
	w.do("GET", widgets+"?watch=1&continue=x", "").want(422, "resourceVersionMatch is forbidden when continue is provided")
}

// A watch of a quiet kind has a bookmark before it ends, so that the next one can
// begin there.
func TestBookmarks_BeforeTheEnd_WATCH06(t *testing.T) {
	w := newWorld(t)
	made := w.do("POST", widgets, a("one", "")).want(201, "").version()
	f := w.watch(t, widgets+"?watch=1&allowWatchBookmarks=true&timeoutSeconds=6&resourceVersion="+made, nil)
	later := w.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"x"}}`).want(201, "").version()
	if e := f.want("BOOKMARK", ""); e.version() != later {
		t.Errorf("%s, and the last change was at %s", e.raw, later)
	}
	if e, ok := f.next(); ok {
		t.Errorf("after it: %s", e.raw)
	}
}

// In a table a bookmark is a row, of an object that has nothing but a revision.
func TestBookmarks_InTables_MT15_WATCH09(t *testing.T) {
	w := newWorld(t)
	const streamed = "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
	for path, want := range map[string]string{
		widgets + streamed: `"rows":[{"cells":["",null],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"`,
		configMaps + streamed + "&includeObject=Object": `"rows":[{"cells":["",0,"\u003cunknown\u003e"],"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"`,
	} {
		f := w.watch(t, path, nil, metaForm+"Table")
		e := f.want("BOOKMARK", "")
		if raw := string(e.raw); !strings.Contains(raw, want) || !strings.Contains(raw, `"annotations":{"k8s.io/initial-events-end":"true"}`) || !strings.Contains(raw, `"columnDefinitions":[`) {
			t.Errorf("%s", raw)
		}
	}
}

// The end of the initial events is a bookmark of its own.
func TestBookmarks_EndOfInitialEvents(t *testing.T) {
	w := newWorld(t)
	for i := range initialPiece + 1 {
		w.do("POST", widgets, a(fmt.Sprint("w", i), "")).want(201, "")
	}
	f := w.watch(t, widgets+"?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan", nil)
	for range initialPiece + 1 {
		if e, _ := f.next(); e.Type != "ADDED" {
			t.Fatalf("%s", e.raw)
		}
	}
	e := f.want("BOOKMARK", "")
	if marks, _ := e.Object.Metadata["annotations"].(map[string]any); marks[metav1.InitialEventsAnnotationKey] != "true" || e.version() == "" {
		t.Errorf("%s", e.raw)
	}
	w.do("POST", widgets, a("later", "")).want(201, "")
	f.want("ADDED", "later")
}

// A bookmark is an object of the kind with nothing in it, in every form. The lines
// are kube-apiserver's, but for the revision.
func TestBookmarks_Forms(t *testing.T) {
	w := newWorld(t)
	const meta = "Accept: application/json;g=meta.k8s.io;v=v1;as="
	const metadata = `"metadata":{"resourceVersion":"R","annotations":{"k8s.io/initial-events-end":"true"}}`
	const row = `"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",` + metadata + `}`
	for _, tc := range []struct{ path, accept, want string }{
		{configMaps, "Accept: application/json", `{"kind":"ConfigMap","apiVersion":"v1",` + metadata + `}`},
		{widgets, "Accept: application/json", `{"kind":"Widget","apiVersion":"example.com/v1",` + metadata + `}`},
		{"/api/v1/namespaces", "Accept: application/json", `{"kind":"Namespace","apiVersion":"v1",` + metadata + `,"spec":{},"status":{}}`},
		{configMaps, meta + "PartialObjectMetadata", `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",` + metadata + `}`},
		{configMaps, meta + "Table", `"rows":[{"cells":["",0,"\u003cunknown\u003e"],` + row + `}]}`},
	} {
		f := w.watch(t, tc.path+"?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&labelSelector=none", nil, tc.accept)
		e := f.want("BOOKMARK", "")
		if got := strings.ReplaceAll(e.raw, `"resourceVersion":"`+e.version()+`"`, `"resourceVersion":"R"`); !strings.Contains(got, tc.want) {
			t.Errorf("%s %s:\n%s", tc.path, tc.accept, got)
		}
	}
}

// No client gets bookmarks that it did not ask for, and none gets the same one
// twice.
func TestBookmarks_OnlyIfAsked_WATCH07(t *testing.T) {
	w := newWorld(t, often)
	silent := w.watch(t, widgets+"?watch=1", nil)
	told := w.watch(t, widgets+"?watch=1&allowWatchBookmarks=1", nil)
	last := int64(0)
	for i := range 20 {
		name := fmt.Sprint("w", i)
		w.do("POST", widgets, a(name, "")).want(201, "")
		silent.want("ADDED", name)
		for seen := false; !seen || last == 0; { // until it has both
			e, ok := told.next()
			if !ok {
				t.Fatal("the watch ended")
			}
			rev, err := strconv.ParseInt(e.version(), 10, 64)
			if err != nil || e.Type == "BOOKMARK" && rev <= last {
				t.Fatalf("%s after one at %d", e.raw, last)
			}
			if e.Type == "BOOKMARK" {
				last = rev
			}
			seen = seen || e.name() == name
		}
	}
	silent.end()
	if e, ok := silent.next(); ok {
		t.Errorf("to the one that did not ask: %s", e.raw)
	}
}

// A bookmark at a revision says that everything up to it was delivered before,
// however slow the client is and however much happens meanwhile.
func TestBookmarks_ComeAfterAllEvents_WATCH07(t *testing.T) {
	w := newWorld(t, often)
	slow := make(chan struct{})
	f := w.watch(t, widgets+"?watch=1&allowWatchBookmarks=true", slow)
	const writers, each = 4, 50
	var writing sync.WaitGroup
	for g := range writers {
		writing.Add(1)
		go func() {
			defer writing.Done()
			for i := range each {
				r := w.Serve(request("POST", widgets, a(fmt.Sprintf("w%d-%d", g, i), "")))
				if r.Code != 201 {
					t.Errorf("%d %s", r.Code, r.Body)
				}
			}
		}()
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // the client takes a piece now and then
		for {
			select {
			case slow <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(2 * time.Millisecond):
			case <-ctx.Done():
				return
			}
		}
	}()
	marked, bookmarks := int64(0), 0
	for events := 0; events < writers*each || bookmarks < 2; {
		e, ok := f.next()
		if !ok {
			t.Fatal("the watch ended")
		}
		rev, err := strconv.ParseInt(e.version(), 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", e.raw, err)
		}
		if e.Type == "BOOKMARK" {
			marked = rev
			bookmarks++
			continue
		}
		if rev <= marked {
			t.Fatalf("an event at %d after a bookmark at %d", rev, marked)
		}
		if events++; events == writers*each {
			// One more change elsewhere, for one more bookmark.
			w.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"last"}}`).want(201, "")
			bookmarks = 1
		}
	}
	writing.Wait()
}

// gauge is a client of a watch that reads everything at once, and measures how
// much was collected for it.
type gauge struct {
	collected, most, frames int
	enough                  func()
	wanted                  int
}

func (g *gauge) Write(p []byte) (int, error) {
	g.collected += len(p)
	return len(p), nil
}

func (g *gauge) Frame(head, body []byte, tail string) {
	g.collected += len(head) + len(body) + len(tail)
	g.most = max(g.most, g.collected)
	if g.frames++; g.frames == g.wanted {
		g.enough()
	}
}

func (*gauge) Hold(func() bool) {}

func (g *gauge) Flush() error {
	g.collected = 0
	return nil
}

// However large objects are and however many there are to be sent, little of
// them is collected for one client.
func TestWatch_LargeObjectsAreNotCollected_WATCH01(t *testing.T) {
	w := newWorld(t)
	const objects, size = 100, 100 << 10
	before, _ := w.do("GET", widgets, "").tree()["metadata"].(map[string]any)["resourceVersion"].(string)
	for i := range objects {
		name := fmt.Sprintf("w%03d", i)
		data := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"annotations":{"a":%q},"name":%q,"namespace":"default","uid":%q}}`, strings.Repeat("x", size), name, name)
		if _, err := w.store.Create(t.Context(), "/registry/example.com/widgets/default/"+name, []byte(data), 0); err != nil {
			t.Fatal(err)
		}
	}
	w.do("GET", widgets+"?limit=1", "").want(200, "") // which waits until the cache has them
	for _, query := range []string{"", "&resourceVersion=" + before} {
		for _, accept := range []string{encoding.TypeJSON, metaForm + "PartialObjectMetadata", "application/vnd.kubernetes.protobuf;g=meta.k8s.io;v=v1;as=PartialObjectMetadata"} {
			resp := w.Serve(request("GET", widgets+"?watch=1"+query, "", "Accept: "+strings.TrimPrefix(accept, "Accept: ")))
			if resp.Stream == nil {
				t.Fatalf("no stream: %d %s", resp.Code, resp.Body)
			}
			ctx, cancel := context.WithCancel(t.Context())
			g := &gauge{wanted: objects, enough: cancel}
			resp.Stream(ctx, g)
			if g.frames != objects || g.most > maxCollected+2*size {
				t.Errorf("%s %s: %d frames, %d bytes collected", query, accept, g.frames, g.most)
			}
		}
	}
}
