package catalog

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

const (
	// fewObjects is how many objects are visited rather than an index made for them.
	fewObjects = 1000
	// maxIndexes is how many labels of a kind have an index: those that selectors
	// named last.
	maxIndexes = 8
)

// labelIndexes are the indexes of a kind's objects by the values of labels.
type labelIndexes struct {
	mu  sync.Mutex
	all []labelIndex // the one used last is the first
}

type labelIndex struct {
	label string
	*watchcache.Index[*view.Entry]
}

// Labelled returns keys in key order, which are shared and must not be changed: all
// objects of s below prefix that a selector may select are among them. ok is false
// where it is as good to visit all.
func (r *Resource) Labelled(s watchcache.Snapshot[*view.Entry], prefix string, selector labels.Selector) (keys []string, ok bool) {
	if selector == nil || s.Count(prefix) < fewObjects {
		return nil, false
	}
	for q := range enumerated(selector) {
		found, narrow := r.index(q.Key()).Find(s, q.ValuesUnsorted()...)
		if narrow && (!ok || len(found) < len(keys)) {
			keys, ok = found, true
		}
	}
	return keys, ok
}

// index is that of a label.
func (r *Resource) index(label string) *watchcache.Index[*view.Entry] {
	x := &r.labelled
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.IndexFunc(x.all, func(l labelIndex) bool { return l.label == label })
	if i < 0 {
		i = min(len(x.all), maxIndexes-1)
		x.all = append(x.all[:i], labelIndex{label, watchcache.NewIndex(r.bucket, r.valueOf(label))})
	}
	used := x.all[i]
	copy(x.all[1:i+1], x.all[:i])
	x.all[0] = used
	return used.Index
}

// valueOf tells the value of a label.
func (r *Resource) valueOf(label string) func(*view.Entry) (value string, has bool, err error) {
	return func(e *view.Entry) (string, bool, error) {
		set, err := r.Labels(e)
		value, has := set[label]
		return value, has, err
	}
}
