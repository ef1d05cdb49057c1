package read_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func (w *world) watch(t resource.Target, o internalversion.ListOptions) *read.Watch {
	w.t.Helper()
	o.Watch = true
	out, err := w.Watch(w.ctx(), t, &o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(out.Stop)
	return out
}

// brief is an event as "TYPE name:port".
func (w *world) brief(event string) string {
	kind, data, _ := strings.Cut(event, " ")
	u := w.parse([]byte(data))
	port := u.Object["port"]
	if port == nil {
		_, port, _ = strings.Cut(fmt.Sprint(u.Object["hostPort"]), ":")
	}
	return fmt.Sprintf("%s %s:%v", kind, u.GetName(), port)
}

func (w *world) merge(name, body string) {
	w.t.Helper()
	w.must(w.Patch(w.ctx(), w.at(v1, name), types.MergePatchType, []byte(body), resource.WriteOptions{}))
}

func TestWatchOrder_WATCH01_WATCH02_WATCH04_RV13(t *testing.T) {
	w := newWorld(t)
	start := w.revision()
	other := w.at(v1, "")
	other.Namespace = "other"
	w.create(other, tab(v1, "elsewhere", "h", "1"))
	w.history()
	all := w.at(v1, "")
	watch := w.watch(all, internalversion.ListOptions{ResourceVersion: fmt.Sprint(start)})
	if all := watch.Initial(1000); len(all) != 0 {
		t.Errorf("%d initial objects", len(all))
	}
	events, err := follow(w.ctx(), watch, all.Resource, v1, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ADDED a:1", "ADDED b:1", "MODIFIED a:2", "DELETED b:1", "ADDED c:1"}
	last := start
	for i, e := range events {
		_, data, _ := strings.Cut(e, " ")
		rev, err := strconv.ParseInt(w.parse([]byte(data)).GetResourceVersion(), 10, 64)
		if w.brief(e) != want[i] || err != nil || rev <= last {
			t.Errorf("event %d at %d: got %s, want %s", i, rev, w.brief(e), want[i])
		}
		last = rev
		// Whoever resumes there misses nothing and gets nothing twice.
		again := w.watch(all, internalversion.ListOptions{ResourceVersion: fmt.Sprint(rev)})
		rest, err := follow(w.ctx(), again, all.Resource, v1, len(want)-1-i)
		if err != nil || strings.Join(rest, "\n") != strings.Join(events[i+1:], "\n") {
			t.Errorf("resumed at %d: %v, %v", rev, rest, err)
		}
	}
	if watch.Revision() < last {
		t.Errorf("seen up to %d", watch.Revision())
	}
}

func TestWatchSelection_WATCH02(t *testing.T) {
	w := newWorld(t)
	on, err := labels.Parse("on=1")
	if err != nil {
		t.Fatal(err)
	}
	start := w.revision()
	byLabel := w.watch(w.at(v1beta1, ""), internalversion.ListOptions{ResourceVersion: fmt.Sprint(start), LabelSelector: on})
	byField := w.watch(w.at(v1beta1, ""), internalversion.ListOptions{ResourceVersion: fmt.Sprint(start), FieldSelector: fields.ParseSelectorOrDie("hostPort=h:1")})
	byName := w.watch(w.at(v1beta1, ""), internalversion.ListOptions{ResourceVersion: fmt.Sprint(start), FieldSelector: fields.ParseSelectorOrDie("metadata.name=a")})
	at := map[string]int64{} // by what was written
	note := func(what string) { at[what] = w.revision() }
	w.create(w.at(v1, ""), tab(v1, "a", "h", "1"))
	note("new")
	w.merge("a", `{"metadata":{"labels":{"on":"1"}}}`) // enters by label
	note("label")
	w.merge("a", `{"port":"2"}`) // leaves by field
	note("port")
	w.merge("a", `{"metadata":{"labels":null}}`) // leaves by label
	note("bare")
	w.merge("a", `{"port":"1","metadata":{"labels":{"on":"1"}}}`) // enters both
	note("both")
	w.create(w.at(v1, ""), tab(v1, "b", "h", "3", `"labels":{"x":"y"}`)) // concerns nobody
	w.must(w.Delete(w.ctx(), w.at(v1, "b"), &metav1.DeleteOptions{}, resource.WriteOptions{}))
	w.must(w.Delete(w.ctx(), w.at(v1, "a"), &metav1.DeleteOptions{}, resource.WriteOptions{}))
	note("gone")
	w.wait(at["gone"])
	for _, c := range []struct {
		watch  *read.Watch
		want   string
		writes string // that the events are of
	}{
		{byLabel, "ADDED a:1,MODIFIED a:2,DELETED a:2,ADDED a:1,DELETED a:1", "label,port,bare,both,gone"},
		{byField, "ADDED a:1,MODIFIED a:1,DELETED a:1,ADDED a:1,DELETED a:1", "new,label,port,both,gone"},
		{byName, "ADDED a:1,MODIFIED a:1,MODIFIED a:2,MODIFIED a:2,MODIFIED a:1,DELETED a:1", "new,label,port,bare,both,gone"},
	} {
		writes := strings.Split(c.writes, ",")
		events, err := follow(w.ctx(), c.watch, w.at(v1, "").Resource, v1beta1, len(writes))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, e := range events {
			got = append(got, w.brief(e))
			_, data, _ := strings.Cut(e, " ")
			if rev := w.parse([]byte(data)).GetResourceVersion(); rev != fmt.Sprint(at[writes[i]]) {
				t.Errorf("%s, written at %d, shows revision %s", w.brief(e), at[writes[i]], rev)
			}
		}
		if s := strings.Join(got, ","); s != c.want {
			t.Errorf("got %s, want %s", s, c.want)
		}
		if rev := c.watch.Revision(); rev != at["gone"] {
			t.Errorf("seen up to %d of %d", rev, at["gone"])
		}
	}
}

func TestWatchStarts_RV11_RV12_RV13_RV16_WATCH08_WATCH11_WATCH12(t *testing.T) {
	w := newWorld(t)
	first, _, third := w.history()
	w.wait(third)
	yes, no := true, false
	all := w.at(v1, "")
	release := w.store.holdUp()
	defer release()
	w.create(w.at(v1, ""), tab(v1, "d", "h", "1"))
	for _, c := range []struct {
		row     string
		o       internalversion.ListOptions
		initial string
		end     bool
	}{
		{"RV-12", internalversion.ListOptions{ResourceVersion: "0"}, "a:2 c:1", false},
		{"RV-13", internalversion.ListOptions{ResourceVersion: fmt.Sprint(first)}, "", false},
		{"RV-16", internalversion.ListOptions{ResourceVersion: fmt.Sprint(third + 1000)}, "", false},
		{"WATCH-12", internalversion.ListOptions{ResourceVersion: fmt.Sprint(first), SendInitialEvents: &yes, AllowWatchBookmarks: true}, "a:2 c:1", true},
		{"WATCH-08", internalversion.ListOptions{ResourceVersion: "0", SendInitialEvents: &yes}, "a:2 c:1", false},
		{"no initial", internalversion.ListOptions{ResourceVersion: "0", SendInitialEvents: &no, AllowWatchBookmarks: true}, "", false},
	} {
		watch := w.watch(all, c.o)
		if got := w.shown(&resource.List{Entries: watch.Initial(1000)}); got != c.initial || watch.InitialEnd != c.end || c.end && watch.InitialRevision != third {
			t.Errorf("%s: got %q at %d, end %v", c.row, got, watch.InitialRevision, watch.InitialEnd)
		}
	}
	got := make(chan string)
	for _, o := range []internalversion.ListOptions{{}, {SendInitialEvents: &yes, AllowWatchBookmarks: true}} {
		go func() { // RV-11, WATCH-11: the most recent state
			watch, err := w.Watch(w.ctx(), all, &o)
			if err != nil {
				t.Error(err)
				watch = &read.Watch{}
			}
			defer watch.Stop()
			got <- w.shown(&resource.List{Entries: watch.Initial(1000)})
		}()
	}
	release()
	for range 2 {
		if s := <-got; s != "a:2 c:1 d:1" {
			t.Errorf("most recent: %s", s)
		}
	}
	_, err := w.Watch(w.ctx(), all, &internalversion.ListOptions{ResourceVersion: "abc"})
	refused(t, err, 400, "BadRequest", "invalid resource version")
}

func TestWatchExpired_RV14_WATCH05(t *testing.T) {
	store := storagetest.NewMemory()
	w := worldOver(t, store)
	first, _, third := w.history()
	w.wait(third)
	if err := store.Compact(w.ctx(), third); err != nil {
		t.Fatal(err)
	}
	late := worldOver(t, store) // it has never seen what is gone
	_, err := late.Watch(w.ctx(), late.at(v1, ""), &internalversion.ListOptions{ResourceVersion: fmt.Sprint(first)})
	refused(t, err, 410, "Expired", fmt.Sprintf("too old resource version: %d (", first))
	// What began in time goes on.
	watch := w.watch(w.at(v1, ""), internalversion.ListOptions{ResourceVersion: fmt.Sprint(first)})
	if events, err := follow(w.ctx(), watch, w.at(v1, "").Resource, v1, 3); err != nil {
		t.Error(events, err)
	}
}

// The memory that Next returns is used again only by the next Next, and a
// piece is never longer than it may be.
func TestWatchPieces(t *testing.T) {
	w := newWorld(t)
	start := w.revision()
	for i := range read.MaxChanges + 10 {
		w.create(w.builtin("configmaps", "default", ""), configMap(fmt.Sprintf("c-%03d", i), "1"))
	}
	w.wait(w.revision())
	all := w.builtin("configmaps", "default", "")
	watch := w.watch(all, internalversion.ListOptions{ResourceVersion: fmt.Sprint(start)})
	n := 0
	for piece, want := range []int{read.MaxChanges, 10, 0} {
		changes, more, err := watch.Next(w.ctx())
		if err != nil || len(changes) != want || more != (piece == 0) {
			t.Fatalf("piece %d: %d changes, more %v, %v", piece, len(changes), more, err)
		}
		for _, c := range changes {
			data, err := bytesOfOne(all.Resource, c.Entry, encoding.MetadataOnly())
			var m struct{ Metadata struct{ Name string } }
			if err != nil || json.Unmarshal(data, &m) != nil || m.Metadata.Name != fmt.Sprintf("c-%03d", n) {
				t.Fatalf("change %d is %s, %v", n, data, err)
			}
			n++
		}
	}
}

// A watch is over when its resource is replaced, or when what comes next is no longer
// kept.
func TestWatchesThatAreOver_WATCH05(t *testing.T) {
	w := newWorld(t)
	watch := w.watch(w.at(v1, ""), internalversion.ListOptions{})
	if watch.Over() {
		t.Error("it is over when it begins")
	}
	w.define(v1beta1, false)
	if !watch.Over() {
		t.Error("it goes on though its resource is another")
	}
}
