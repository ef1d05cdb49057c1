package read_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// follow reads n changes of a watch at a version.
func follow(ctx context.Context, w *read.Watch, r *catalog.Resource, version string, n int) (out []string, err error) {
	for len(out) < n {
		select {
		case <-w.Wait():
		case <-ctx.Done():
			return out, ctx.Err()
		}
		changes, _, err := w.Next(ctx)
		if err != nil {
			return out, err
		}
		entries := make([]*view.Entry, len(changes))
		for i, c := range changes {
			entries[i] = c.Entry
		}
		objects, err := bytesOf(ctx, r, entries, encoding.At(version))
		if err != nil {
			return out, err
		}
		for i, c := range changes {
			out = append(out, string(c.Type)+" "+string(objects[i]))
		}
	}
	return out, nil
}

func TestConversionRunsOnceForAllReaders_CRD11_WATCH03(t *testing.T) {
	const objects, readers = 40, 24
	w := newWorld(t)
	start := w.revision()
	var names []string
	for i := range objects {
		names = append(names, fmt.Sprintf("tab-%d", i))
		w.create(w.at(v1, ""), tab(v1, names[i], "h", fmt.Sprint(i)))
	}
	all := w.at(v1beta1, "")
	list := &internalversion.ListOptions{}
	var wg sync.WaitGroup
	for n := range readers {
		wg.Go(func() {
			switch n % 3 {
			case 0:
				for _, name := range names {
					one := all
					one.Name = name
					e, err := w.Entry(w.ctx(), one, "")
					if err == nil {
						_, err = all.Resource.View(w.ctx(), e, v1beta1)
					}
					if err != nil {
						t.Error(err)
					}
				}
			case 1:
				l, err := w.List(w.ctx(), all, list)
				if err == nil {
					_, err = bytesOf(w.ctx(), all.Resource, l.Entries, encoding.At(v1beta1))
				}
				if err != nil || len(l.Entries) != objects {
					t.Error(len(l.Entries), err)
				}
			default:
				watch, err := w.Watch(w.ctx(), all, &internalversion.ListOptions{ResourceVersion: fmt.Sprint(start)})
				if err != nil {
					t.Error(err)
					return
				}
				defer watch.Stop()
				events, err := follow(w.ctx(), watch, all.Resource, v1beta1, objects)
				if err != nil || !strings.Contains(events[objects-1], fmt.Sprintf(`"hostPort":"h:%d"`, objects-1)) {
					t.Error(events, err)
				}
			}
		})
	}
	wg.Wait()
	if len(w.conv.Runs()) != objects {
		t.Errorf("%d revisions were converted, want %d", len(w.conv.Runs()), objects)
	}
	for what, n := range w.conv.Runs() {
		if n != 1 {
			t.Errorf("%s: converted %d times", what, n)
		}
	}
}

func TestFailingConverter_CRD18(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	w.conv.BreakDown("no conversion today")
	w.read(w.at(v1, "one")) // its own version needs none
	e, err := w.Entry(w.ctx(), w.at(v1beta1, "one"), "")
	if err != nil {
		t.Fatal(err)
	}
	r := w.at(v1, "").Resource
	if _, err = r.View(w.ctx(), e, v1beta1); err == nil {
		t.Fatal("read without a converter")
	}
	refused(t, err, 500, "", "no conversion today")
	if data, err := bytesOfOne(r, e, encoding.MetadataOnly()); err != nil || !bytes.Contains(data, []byte(`"name":"one"`)) {
		t.Errorf("metadata: %s, %v", data, err)
	}
	_, err = w.Delete(w.ctx(), w.at(v1beta1, "one"), &metav1.DeleteOptions{}, resource.WriteOptions{})
	refused(t, err, 500, "", "no conversion today")
	_, err = w.Patch(w.ctx(), w.at(v1beta1, "one"), types.MergePatchType, []byte(`{"hostPort":"a:2"}`), resource.WriteOptions{})
	refused(t, err, 500, "", "no conversion today")
	w.raw(w.at(v1, "one")) // still there
	w.conv.Repair()
	if got := w.read(w.at(v1beta1, "one")).Object["hostPort"]; got != "h:1" {
		t.Errorf("after the repair: %v", got)
	}
	w.conv.BreakDown("again")
	// A controller writes what the converter would have to read.
	if _, err := w.Delete(w.ctx(), w.at(v1, "one"), &metav1.DeleteOptions{}, resource.WriteOptions{Caller: resource.Component("test"), NoReply: true}); err != nil {
		t.Errorf("internal deletion: %v", err)
	}
	if _, err := w.Entry(w.ctx(), w.at(v1, "one"), ""); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: %v", err)
	}
}

// A list that waits for a converter, and fails because of it, is not allowed
// to hold up or fail who asks for something else.
func TestReadersDoNotShareOthersTrouble_CRD18(t *testing.T) {
	w := newWorld(t)
	r := w.at(v1, "").Resource
	w.create(w.at(v1, ""), tab(v1, "bad", "h", "1"))
	w.create(w.at(v1, ""), tab(v1, "good", "h", "2"))
	l, err := w.List(w.ctx(), w.at(v1beta1, ""), &internalversion.ListOptions{})
	if err != nil || len(l.Entries) != 2 {
		t.Fatal(l, err)
	}
	release := w.conv.Block()
	listed := make(chan error, 1)
	go func() {
		_, err := bytesOf(w.ctx(), r, l.Entries, encoding.At(v1beta1))
		listed <- err
	}()
	w.conv.Await(1)               // until the list is being converted
	for _, e := range l.Entries { // stored at v1: does not wait
		if _, err := r.View(w.ctx(), e, v1); err != nil {
			t.Error(err)
		}
		if _, err := bytesOfOne(r, e, encoding.MetadataOnly()); err != nil {
			t.Error(err)
		}
	}
	got := make(chan error, 1)
	go func() {
		data, err := r.View(w.ctx(), l.Entries[1], v1beta1)
		if err == nil && !bytes.Contains(data, []byte(`"hostPort":"h:2"`)) {
			err = fmt.Errorf("got %s", data)
		}
		got <- err
	}()
	release()
	if err := <-listed; err == nil || !strings.Contains(err.Error(), "bad cannot be converted") {
		t.Errorf("the list: %v", err)
	}
	if err := <-got; err != nil {
		t.Errorf("the good object: %v", err)
	}
}

// An object that was changed and then deleted before a watch read on is in one
// batch twice.
func TestTombstoneBesideItsLastState_WATCH03(t *testing.T) {
	w := newWorld(t)
	all := w.at(v1beta1, "")
	watch, err := w.Watch(w.ctx(), all, &internalversion.ListOptions{ResourceVersion: fmt.Sprint(w.revision())})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	made := w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	out, err := w.Delete(w.ctx(), w.at(v1, "one"), &metav1.DeleteOptions{}, resource.WriteOptions{})
	if err != nil || !out.Deleted {
		t.Fatal(out, err)
	}
	gone := w.revision()
	w.wait(gone)
	events, err := follow(w.ctx(), watch, all.Resource, v1beta1, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"ADDED " + made.GetResourceVersion(), fmt.Sprintf("DELETED %d", gone)} {
		kind, data, _ := strings.Cut(events[i], " ")
		u := w.parse([]byte(data))
		if got := kind + " " + u.GetResourceVersion(); got != want || u.Object["hostPort"] != "h:1" {
			t.Errorf("got %s of %s, want %s", got, data, want)
		}
	}
	if w.conv.Calls.Load() != 1 {
		t.Errorf("%d conversions for one state", w.conv.Calls.Load())
	}
}

// A converter with another epoch makes all views anew, and a view that another
// epoch may have made is not remembered.
func TestConverterEpoch(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	r := w.at(v1, "").Resource
	e, err := w.Entry(w.ctx(), w.at(v1, "one"), "")
	if err != nil {
		t.Fatal(err)
	}
	view := func() {
		t.Helper()
		if _, err := r.View(w.ctx(), e, v1beta1); err != nil {
			t.Fatal(err)
		}
	}
	view()
	view()
	if n := w.conv.Calls.Load(); n != 1 {
		t.Fatalf("%d calls", n)
	}
	w.conv.Revision.Add(1)
	view()
	if n := w.conv.Calls.Load(); n != 2 {
		t.Fatalf("%d calls after the change", n)
	}
	w.conv.Revision.Add(1)
	release := w.conv.Block()
	done := make(chan struct{})
	go func() { defer close(done); view() }()
	w.conv.Await(3)
	w.conv.Revision.Add(1)
	release()
	<-done
	view()
	if n := w.conv.Calls.Load(); n != 4 {
		t.Errorf("%d calls after a change meanwhile", n)
	}
}

// Requests under a former form of a definition leave the views of the present
// one alone.
func TestFormerFormKeepsOffViews(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	old := w.at(v1, "").Resource
	w.define(v1beta1, false)
	current := w.at(v1, "").Resource
	e, err := w.Entry(w.ctx(), w.at(v1, "one"), "")
	if err != nil || old == current {
		t.Fatal(err)
	}
	for range 3 {
		for _, r := range []*catalog.Resource{current, old} {
			if _, err := r.View(w.ctx(), e, v1beta1); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Once for the present form, every time for the former.
	if n := w.conv.Calls.Load(); n != 4 {
		t.Errorf("%d calls", n)
	}
}
