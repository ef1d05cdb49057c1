package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

func TestViewsOfOneEntry(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	e := entry(v1, "one", 7)
	for version, want := range map[string]string{
		v1:      `{"apiVersion":"example.com/v1","host":"h","kind":"CronTab","metadata":{"generation":1,"name":"one","resourceVersion":"7"},"port":"7"}`,
		v1beta1: `{"apiVersion":"example.com/v1beta1","hostPort":"h:7","kind":"CronTab","metadata":{"generation":1,"name":"one","resourceVersion":"7"}}`,
	} {
		first, err := r.View(t.Context(), e, version)
		if err != nil || string(first) != want {
			t.Errorf("%s: got %s, %v", version, first, err)
		}
		again, err := r.bytesOf(t.Context(), []*Entry{e, e}, version)
		if err != nil || &again[0][0] != &first[0] || &again[1][0] != &first[0] {
			t.Errorf("%s: derived again: %s, %v", version, again, err)
		}
	}
	meta, err := r.metadataOf(e)
	if want := `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"one","generation":1,"resourceVersion":"7"}}`; err != nil || string(meta) != want {
		t.Errorf("got %s, %v", meta, err)
	}
	if again, err := r.metadataOf(e); err != nil || &again[0] != &meta[0] {
		t.Error("the metadata was derived again")
	}
	if n := s.conv.Calls.Load(); n != 1 || s.spared.Load() != 2 {
		t.Errorf("%d conversions, %d spared", n, s.spared.Load())
	}
	if again, err := r.View(t.Context(), e, v1beta1); err != nil || again == nil || s.spared.Load() != 3 {
		t.Errorf("%d spared", s.spared.Load())
	}
	if _, err := r.View(t.Context(), e, "v3"); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `no version "v3"`) {
		t.Errorf("a version that there is not: %v", err)
	}
}

// What was read once is not decoded again to be converted; what was converted
// is never taken for what is stored.
func TestViewsAreMadeOfWhatWasRead(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	e := entry(v1, "one", 7)
	if _, err := r.View(t.Context(), e, v1); err != nil {
		t.Fatal(err)
	}
	e.holds([]byte("{")) // to see who looks
	if got, err := r.View(t.Context(), e, v1beta1); err != nil || !bytes.Contains(got, []byte(`"hostPort":"h:7"`)) || !bytes.Contains(got, []byte(`"resourceVersion":"7"`)) {
		t.Errorf("got %s, %v", got, err)
	}
	old := NewEntry(storage.KV{Value: []byte(`{"apiVersion":"example.com/v1beta1","hostPort":"h:8","kind":"CronTab","metadata":{"generation":1,"name":"old"}}`), Revision: 8})
	k := r.KeyOf(encoding.At(v1))
	old.addView(&view{Key: k, data: []byte(`"converted"`), converted: true})
	if got, version, err := r.asStored(old); err != nil || version != v1beta1 || !bytes.Contains(got, []byte(`"hostPort":"h:8"`)) {
		t.Errorf("got %s at %s, %v", got, version, err)
	}
}

// A deletion shows the last state under its own revision, and asks no
// converter for what the last state has.
func TestViewsOfATombstone(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	last := entry(v1, "one", 7, `"labels":{"a":"b"}`)
	gone := Tombstone(last, 9)
	objects, err := r.bytesOf(t.Context(), []*Entry{last, gone}, v1beta1)
	if err != nil || !bytes.Contains(objects[0], []byte(`"resourceVersion":"7"`)) || !bytes.Contains(objects[1], []byte(`"resourceVersion":"9"`)) || !bytes.Contains(objects[1], []byte(`"hostPort":"h:7"`)) {
		t.Errorf("got %s, %v", objects, err)
	}
	if n := s.conv.Calls.Load(); n != 1 {
		t.Errorf("%d conversions", n)
	}
	again, err := r.View(t.Context(), gone, v1beta1)
	if err != nil || &again[0] != &objects[1][0] || s.spared.Load() != 1 {
		t.Errorf("derived again, or %d conversions were spared: %v", s.spared.Load(), err)
	}
	if set, err := r.Labels(gone); err != nil || set["a"] != "b" {
		t.Errorf("labels %v, %v", set, err)
	}
	if gone.Size() >= last.Size()+last.StoredSize() {
		t.Errorf("%d bytes, of which %d are the last state's", gone.Size(), last.Size())
	}
}

// What was converted before a failure stays: a second attempt converts only
// the rest, and what was not in the way of the failure is never asked for
// again.
func TestAFailureKeepsWhatWasConverted_CRD18(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	var entries []*Entry
	const objects = 3 * conversion.MaxObjects
	for i := range objects {
		name := fmt.Sprintf("tab-%04d", i)
		if i == objects-1 {
			name = "bad"
		}
		entries = append(entries, entry(v1, name, int64(i+1)))
	}
	_, err := r.bytesOf(t.Context(), entries, v1beta1)
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != 500 || !strings.Contains(err.Error(), "bad cannot be converted") {
		t.Fatalf("got %v", err)
	}
	done := len(s.conv.Runs())
	if done < conversion.MaxObjects/2 {
		t.Fatalf("%d of %d were converted", done, objects)
	}
	entries[objects-1] = entry(v1, "good", objects)
	if _, err := r.bytesOf(t.Context(), entries, v1beta1); err != nil {
		t.Fatal(err)
	}
	runs, again := s.conv.Runs(), 0
	for _, n := range runs {
		if n > 1 {
			again++
		}
	}
	// Only what shared a call with the bad one was converted twice.
	if len(runs) != objects || again >= conversion.MaxObjects {
		t.Errorf("%d objects, %d of them twice; %d were done before the failure", len(runs), again, done)
	}
}

// full is why a converter has no room.
type full struct{ error }

func (full) Later() bool { return true }

// A conversion that found no room is no failure of the converter, nor of the object: who
// asked is told to come again, and then it is made.
func TestAConversionWithoutRoomIsMadeLater(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	entries := []*Entry{entry(v1, "one", 1)}
	s.conv.Fail(&conversion.Error{Reason: "m failed: no room", Cause: fmt.Errorf("m: %w", full{errors.New("no room")})})
	_, err := r.bytesOf(t.Context(), entries, v1beta1)
	seconds, later := apierrors.SuggestsClientDelay(err)
	if !apierrors.IsTooManyRequests(err) || !later || seconds != 1 || !strings.HasSuffix(err.Error(), "m failed: no room") || errors.As(err, new(*UnconvertedError)) {
		t.Errorf("%#v, again after %d s", err, seconds)
	}
	s.conv.Repair()
	if _, err := r.bytesOf(t.Context(), entries, v1beta1); err != nil {
		t.Error(err)
	}
}

// Two callers of the same entries derive them once, also when each has entries
// that the other has not.
func TestFlightsAreShared(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	var entries []*Entry
	for i := range 300 {
		entries = append(entries, entry(v1, fmt.Sprintf("tab-%d", i), int64(i+1)))
	}
	release := s.conv.Block()
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			part := entries[n*20 : n*20+160]
			out, err := r.bytesOf(context.Background(), part, v1beta1)
			if err != nil || !bytes.Contains(out[159], fmt.Appendf(nil, `"hostPort":"h:%d"`, part[159].Revision)) {
				t.Error(err)
			}
		})
	}
	s.conv.Await(1)
	release()
	wg.Wait()
	for what, n := range s.conv.Runs() {
		if n != 1 {
			t.Errorf("%s: %d times", what, n)
		}
	}
	for _, e := range entries {
		if e.flights.Load() != nil {
			t.Fatal("a flight has not landed")
		}
	}
}

// A caller that leaves does not fail those who wait for the same view, and one
// who waits may leave.
func TestLeavingAFlight(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	e := entry(v1, "one", 7)
	release := s.conv.Block()
	first, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() { _, err := r.View(first, e, v1beta1); got <- err }()
	s.conv.Await(1)
	f := e.flights.Load().flight
	waiting := make(chan error, 1)
	go func() { _, err := r.View(t.Context(), e, v1beta1); waiting <- err }()
	awaitWaiting(t, f, 2)
	cancel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := r.View(gone, e, v1beta1); err == nil {
		t.Error("a view for nobody")
	}
	awaitWaiting(t, f, 1)
	release()
	if err := <-got; err != nil {
		t.Errorf("who began it: %v", err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("who waited: %v", err)
	}
	if n := s.conv.Calls.Load(); n != 1 {
		t.Errorf("%d conversions", n)
	}
}

// panicking is a converter that is broken.
type panicking struct{}

func (panicking) Epoch() uint64 { return 0 }
func (panicking) Convert(context.Context, string, [][]byte) ([][]byte, error) {
	panic("converter")
}

// A converter that panics leaves nothing behind that others wait for.
func TestPanickingConverter(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	e := entry(v1, "one", 7)
	broken := New(r.Def, panicking{}, s.memory)
	if _, err := broken.View(t.Context(), e, v1beta1); err == nil || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("got %v", err)
	}
	if e.flights.Load() != nil {
		t.Error("the flight has not landed")
	}
	if _, err := r.View(t.Context(), e, v1beta1); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Another epoch of the converter makes views anew, in place of the former.
func TestEpochsOfViews(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	e := entry(v1, "one", 7)
	count := func() (n int) {
		for v := e.views.Load(); v != nil; v = v.next {
			n++
		}
		return n
	}
	for i := range int64(3) {
		s.conv.Revision.Store(uint64(i))
		for range 2 {
			if _, err := r.View(t.Context(), e, v1beta1); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.conv.Calls.Load(); n != i+1 || count() != 1 {
			t.Errorf("epoch %d: %d conversions, %d views", i, n, count())
		}
	}
	// A former form of the definition does not replace what the present made.
	present := r.KeyOf(encoding.At(v1beta1))
	former := present
	former.definition--
	e.addView(&view{Key: former, data: []byte("former")})
	if v := e.view(present); v == nil || count() != 1 || e.view(former) != nil {
		t.Error("the former form replaced the view")
	}
	later := present
	later.definition++
	e.addView(&view{Key: later, data: []byte("later")})
	if v := e.view(later); v == nil || string(v.data) != "later" || count() != 1 {
		t.Error("the later form did not replace the view")
	}
}

// The entry of a writer gives its views to the one that the cache made.
func TestAdopt(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	writers, readers := entry(v1, "one", 7), entry(v1, "one", 7)
	made, err := r.View(t.Context(), writers, v1beta1)
	if err != nil {
		t.Fatal(err)
	}
	own, err := r.View(t.Context(), readers, v1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = r.View(t.Context(), writers, v1); err != nil {
		t.Fatal(err)
	}
	before := readers.Size()
	readers.Adopt(writers)
	if readers.Size() <= before+len(made) {
		t.Errorf("%d bytes, then %d", before, readers.Size())
	}
	got, err := r.View(t.Context(), readers, v1beta1)
	if err != nil || &got[0] != &made[0] || s.conv.Calls.Load() != 1 {
		t.Errorf("got %s, %v", got, err)
	}
	if got, _ := r.View(t.Context(), readers, v1); &got[0] != &own[0] {
		t.Error("its own view was replaced")
	}
}

func TestUnreadableEntries(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	for name, stored := range map[string]string{
		"no JSON":       `x`,
		"half":          `{"apiVersion":"example.com/v1"`,
		"another group": `{"apiVersion":"example.org/v1","kind":"CronTab","metadata":{"name":"x"}}`,
		"no group":      `{"apiVersion":"v1","kind":"CronTab","metadata":{"name":"x"}}`,
	} {
		e := NewEntry(storage.KV{Value: []byte(stored), Revision: 7})
		if _, err := r.View(t.Context(), e, v1); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "stored object of crontabs.example.com at revision 7 cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, stored := range []string{`x`, `{"metadata":7}`, `{"kind":"CronTab"}`, `{"metadata":{"labels":{"a":}}}`, `{"metadata":{"labels":[1]}}`} {
		e := NewEntry(storage.KV{Value: []byte(stored), Revision: 7})
		if set, err := r.Labels(e); !apierrors.IsInternalError(err) {
			t.Errorf("labels of %s: %v, %v", stored, set, err)
		}
	}
	for stored, want := range map[string]int{`{"metadata":{}}`: 0, `{"metadata":{"labels":null}}`: 0, `{"metadata":{"labels":{"a":"b","c":7}}}`: 1} {
		e := NewEntry(storage.KV{Value: []byte(stored), Revision: 7})
		if set, err := r.Labels(e); err != nil || len(set) != want {
			t.Errorf("labels of %s: %v, %v", stored, set, err)
		}
	}
	// The good ones of a list that has a bad one are derived all the same.
	good, bad := entry(v1, "one", 1), NewEntry(storage.KV{Value: []byte("x"), Revision: 2})
	if _, err := r.bytesOf(t.Context(), []*Entry{good, bad}, v1beta1); err == nil {
		t.Error("the bad one was not noticed")
	}
}

func TestFieldsAreReadOnce(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	e := entry(v1, "one", 7)
	data, err := r.View(t.Context(), e, v1beta1)
	if err != nil {
		t.Fatal(err)
	}
	v := r.Def.Version(v1beta1)
	set, err := r.Fields(e, v, data)
	if err != nil || set["hostPort"] != "h:7" && set[".hostPort"] != "h:7" {
		t.Fatalf("got %v, %v", set, err)
	}
	if again, err := r.Fields(e, v, []byte("x")); err != nil || len(again) != len(set) {
		t.Errorf("read again: %v, %v", again, err)
	}
	none := entry(v1, "three", 8)
	if set, err := r.Fields(none, v, []byte(catalogtest.Tab(v1beta1, "three", "g", "2"))); err != nil || set["hostPort"] != "g:2" && set[".hostPort"] != "g:2" {
		t.Errorf("without a view: %v, %v", set, err)
	}
	other := entry(v1, "two", 8)
	if _, err := r.Fields(other, v, []byte("x")); !apierrors.IsInternalError(err) {
		t.Errorf("of no object: %v", err)
	}
}

func TestSpread(t *testing.T) {
	for _, n := range []int{0, 1, spreadLeast - 1, spreadLeast, 10 * spreadLeast} {
		var calls atomic.Int64
		seen := make([]atomic.Bool, n)
		if err := Spread(n, func(i int) error { calls.Add(1); seen[i].Store(true); return nil }); err != nil || calls.Load() != int64(n) {
			t.Errorf("%d: %d calls, %v", n, calls.Load(), err)
		}
		for i := range seen {
			if !seen[i].Load() {
				t.Errorf("%d: not %d", n, i)
			}
		}
	}
	var calls atomic.Int64
	err := Spread(1000, func(i int) error {
		calls.Add(1)
		if i >= 10 {
			return fmt.Errorf("number %d", i)
		}
		return nil
	})
	if err == nil || calls.Load() > 10+2*int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	if err := Spread(3, func(i int) error {
		if i == 1 {
			panic("broken")
		}
		return nil
	}); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a panic: %v", err)
	}
	var f firstError
	f.note(3, nil)
	f.note(5, errors.New("five"))
	f.note(2, errors.New("two"))
	f.note(4, errors.New("four"))
	f.note(2, errors.New("two again"))
	if f.err.Error() != "two" {
		t.Errorf("got %v", f.err)
	}
}

func TestStoredForms(t *testing.T) {
	if NewEntry(storage.KV{}).storedJSON() || !NewEntry(storage.KV{Value: []byte("{")}).storedJSON() || NewEntry(storage.KV{Value: []byte("k8s\x00")}).storedJSON() {
		t.Error("storedJSON")
	}
}

// Metadata needs no converter, however the object is stored.
func TestMetadataOfCBOR(t *testing.T) {
	s := newShelf(t)
	s.conv.BreakDown("broken")
	r := s.defined(catalogtest.CronTab(v1beta1, false))
	data, err := direct.Marshal(map[string]any{"apiVersion": "example.com/v1", "kind": "CronTab", "host": "h",
		"metadata": map[string]any{"name": "one", "uid": "u", "labels": map[string]any{"a": "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	e := NewEntry(storage.KV{Value: append([]byte("\xd9\xd9\xf7"), data...), Revision: 7})
	meta, err := r.metadataOf(e)
	if err != nil || !bytes.Contains(meta, []byte(`"uid":"u"`)) || !bytes.Contains(meta, []byte(`"resourceVersion":"7"`)) {
		t.Errorf("got %s, %v", meta, err)
	}
	if set, err := r.Labels(e); err != nil || set["a"] != "b" {
		t.Errorf("got %v, %v", set, err)
	}
	text, err := r.JSON(e)
	if want := `{"apiVersion":"example.com/v1","host":"h","kind":"CronTab","metadata":{"generation":1,"labels":{"a":"b"},"name":"one","uid":"u"}}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	if text, err := r.JSON(NewEntry(storage.KV{Value: []byte("\xd9\xd9\xf7\xff"), Revision: 8})); err == nil {
		t.Errorf("damaged CBOR is %s", text)
	}
	if n := s.conv.Calls.Load(); n != 0 {
		t.Errorf("%d calls of the converter", n)
	}
}

func TestShedGivesUpWhatWasDerived(t *testing.T) {
	e := NewEntry(storage.KV{Value: []byte(`{"metadata":{"labels":{"a":"b"}}}`), Revision: 7})
	small := e.Size()
	k := Key{Encoding: encoding.At("v2")}
	e.addView(&view{Key: k, data: make([]byte, 5000)})
	if e.Size() < small+5000 || e.view(k) == nil {
		t.Errorf("with a view of 5000 bytes the size is %d, without %d", e.Size(), small)
	}
	e.Shed()
	if e.Size() != small || e.view(k) != nil || e.StoredSize() == 0 {
		t.Errorf("after it was given up the size is %d, was %d", e.Size(), small)
	}
}
