package read_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// What a watch begins with comes piece by piece, as it was when the watch began, and is held
// by nobody but where it was selected.
func TestWhatAWatchBeginsWith(t *testing.T) {
	w := newWorld(t)
	other := w.at(v1, "")
	other.Namespace = "other"
	w.create(other, tab(v1, "elsewhere", "h", "1"))
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w.create(w.at(v1, ""), tab(v1, name, "h", "1"))
	}
	everywhere := w.at(v1, "")
	everywhere.Namespace = ""
	none, err := labels.Parse("a!=b")
	if err != nil {
		t.Fatal(err)
	}
	const all = "a:1 b:1 c:1 d:1 e:1"
	for name, c := range map[string]struct {
		target resource.Target
		o      internalversion.ListOptions
		want   string
		held   int
	}{
		"of a namespace": {w.at(v1, ""), internalversion.ListOptions{}, all, 0},
		"of all":         {everywhere, internalversion.ListOptions{}, all + " elsewhere:1", 0},
		"by labels":      {w.at(v1, ""), internalversion.ListOptions{LabelSelector: none}, all, 8 * 5},
		"by a field":     {w.at(v1, ""), internalversion.ListOptions{FieldSelector: fields.OneTermNotEqualSelector("metadata.name", "c")}, "a:1 b:1 d:1 e:1", 8 * 4},
		"of nothing":     {w.at(v1, ""), internalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "none")}, "", 0},
	} {
		for most := range 7 {
			watch := w.watch(c.target, c.o)
			if held := watch.Held(); held < c.held || held > 2*c.held {
				t.Errorf("%s: %d bytes are held", name, held)
			}
			w.merge("b", fmt.Sprintf(`{"port":"%d"}`, most+2)) // is no part of it
			var got resource.List
			for piece := watch.Initial(most + 1); len(piece) > 0; piece = watch.Initial(most + 1) {
				if got.Entries = append(got.Entries, piece...); len(piece) > most+1 {
					t.Errorf("%s: a piece of %d", name, len(piece))
				}
			}
			if said := w.shown(&got); said != c.want || watch.Held() != 0 {
				t.Errorf("%s, %d at a time: %q, want %q; %d bytes are held", name, most+1, said, c.want, watch.Held())
			}
			w.merge("b", `{"port":"1"}`)
			if name == "of nothing" {
				continue
			}
			events, err := follow(w.ctx(), watch, c.target.Resource, v1, 2)
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{fmt.Sprintf("MODIFIED b:%d", most+2), "MODIFIED b:1"}; !slices.Equal([]string{w.brief(events[0]), w.brief(events[1])}, want) {
				t.Errorf("%s: then %q", name, events)
			}
		}
	}
	later := w.watch(w.at(v1, ""), internalversion.ListOptions{ResourceVersion: fmt.Sprint(w.revision())})
	if all := later.Initial(10); len(all) != 0 {
		t.Errorf("%d objects where none were asked for", len(all))
	}
}
