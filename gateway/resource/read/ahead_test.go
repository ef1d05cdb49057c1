package read_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// TestRevisionAheadOfTheCache asks for what is in the store while the cache is
// held up: every form of reading waits, and then shows it.
func TestRevisionAheadOfTheCache_RV04_RV07_RVL1_RVL6_RVL7_WATCH12(t *testing.T) {
	yes := true
	const all = "a:2 c:1 d:1"
	for name, read := range map[string]func(w *world, rv string) (string, error){
		"get": func(w *world, rv string) (string, error) {
			data, err := w.Get(w.ctx(), w.at(v1, "d"), rv, encoding.At(v1))
			if err != nil {
				return "", err
			}
			u := w.parse(data.Bytes())
			return fmt.Sprintf("%s:%s %s", u.GetName(), u.Object["port"], u.GetResourceVersion()), nil
		},
		"list":                          listAt(internalversion.ListOptions{}),
		"list NotOlderThan":             listAt(internalversion.ListOptions{ResourceVersionMatch: "NotOlderThan"}),
		"list NotOlderThan with a page": listAt(internalversion.ListOptions{ResourceVersionMatch: "NotOlderThan", Limit: 9}),
		"streaming list": func(w *world, rv string) (string, error) {
			o := internalversion.ListOptions{ResourceVersion: rv, ResourceVersionMatch: "NotOlderThan", SendInitialEvents: &yes, AllowWatchBookmarks: true}
			watch, err := w.Watch(w.ctx(), w.at(v1, ""), &o)
			if err != nil {
				return "", err
			}
			defer watch.Stop()
			return fmt.Sprintf("%s %d", w.shown(&resource.List{Entries: watch.Initial(1000)}), watch.InitialRevision), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				_, _, third := w.history()
				w.wait(third)
				release := w.store.holdUp()
				defer release()
				made := w.create(w.at(v1, ""), tab(v1, "d", "h", "1")).GetResourceVersion()
				type reply struct {
					text string
					err  error
				}
				got := make(chan reply, 1)
				go func() {
					text, err := read(w, made)
					got <- reply{text, err}
				}()
				synctest.Wait()
				if len(got) != 0 {
					t.Fatalf("before the cache was there: %v", <-got)
				}
				release()
				want := all + " " + made
				if name == "get" {
					want = "d:1 " + made
				}
				if r := <-got; r.err != nil || r.text != want {
					t.Errorf("got %v, want %s", r, want)
				}
			})
		})
	}
	t.Run("who gives up is let go", func(t *testing.T) {
		w := newWorld(t)
		_, _, third := w.history()
		w.wait(third)
		defer w.store.holdUp()()
		made := w.create(w.at(v1, ""), tab(v1, "d", "h", "1")).GetResourceVersion()
		ctx, cancel := context.WithTimeout(w.ctx(), 50*time.Millisecond)
		defer cancel()
		if data, err := w.Get(ctx, w.at(v1, "d"), made, encoding.At(v1)); err == nil {
			t.Errorf("got %s", data.Bytes())
		}
	})
}

// listAt lists with options at a revision, and returns what is shown and the
// list's revision.
func listAt(o internalversion.ListOptions) func(w *world, rv string) (string, error) {
	return func(w *world, rv string) (string, error) {
		o.ResourceVersion = rv
		l, err := w.list(w.at(v1, ""), o)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s %d", w.shown(l), l.Revision), nil
	}
}
