package catalog

import (
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Interest is what a watcher looks for in changes: a namespace, a name or the value of
// a label, or one of both in a namespace. What is "" may be anything, but for Value.
type Interest struct{ Namespace, Name, Label, Value string }

// Narrowest is a label of which a selector wants one of some values; "" if there is
// none. Of several it is one that has the fewest.
func Narrowest(s labels.Selector) (label string, values []string) {
	if s == nil {
		return "", nil
	}
	for q := range enumerated(s) {
		if wanted := q.ValuesUnsorted(); label == "" || len(wanted) < len(values) {
			label, values = q.Key(), wanted
		}
	}
	return label, values
}

// enumerated visits the requirements that name the values that a label may have.
func enumerated(s labels.Selector) iter.Seq[labels.Requirement] {
	return func(yield func(labels.Requirement) bool) {
		all, _ := s.Requirements()
		for _, q := range all {
			switch q.Operator() {
			case selection.Equals, selection.DoubleEquals, selection.In:
				if !yield(q) {
					return
				}
			}
		}
	}
}

// Follow lets a cursor of the resource's bucket be woken for changes of one of the
// interests only, until it is stopped.
func (r *Resource) Follow(c *watchcache.Cursor[*view.Entry], interests ...Interest) (f *watchcache.Follower[*view.Entry, Interest], stop func()) {
	byLabel := slices.ContainsFunc(interests, func(i Interest) bool { return i.Label != "" })
	if byLabel {
		r.byLabel.Add(1)
	}
	f = r.watchers.Follow(c, interests...)
	return f, func() {
		f.Close()
		if byLabel {
			r.byLabel.Add(-1)
		}
	}
}

// interestsOf visits all interests that an event may be of, by what the object was and
// what it is; labels are read while somebody follows one. It is false where they cannot be.
func (r *Resource) interestsOf(ev *watchcache.Event[*view.Entry], visit func(Interest)) bool {
	namespace, name := SplitKey(ev.Item.Key)
	visit(Interest{Name: name})
	if namespace != "" {
		visit(Interest{Namespace: namespace})
		visit(Interest{Namespace: namespace, Name: name})
	}
	if r.byLabel.Load() == 0 {
		return true
	}
	var was labels.Set
	for _, e := range [...]*view.Entry{ev.Prev, ev.Item.Value} {
		if e == nil || e == ev.Item.Value && ev.Type == watchcache.Deleted {
			continue
		}
		set, err := r.Labels(e)
		if err != nil {
			return false
		}
		if was != nil && maps.Equal(was, set) {
			continue
		}
		was = set
		for label, value := range set {
			visit(Interest{Label: label, Value: value})
			if namespace != "" {
				visit(Interest{Namespace: namespace, Label: label, Value: value})
			}
		}
	}
	return true
}
