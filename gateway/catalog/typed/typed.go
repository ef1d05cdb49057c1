// Package typed owns the objects of a built-in kind as Go values, for who decides by them
// on every request: those that the cache holds, read once each.
//
// It must not know what they mean.
package typed

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Kind is the objects of one kind, as T. One goroutine at a time calls Changed.
type Kind[T any] struct {
	// Resource is the kind; nil where it is not served, which then has no objects.
	Resource *catalog.Resource

	from watchcache.Snapshot[*view.Entry]
	of   map[string]*T // by key, those that can be read
}

// Now is what the cache holds. Whether that is the same as before is a comparison of two
// pointers.
func (k *Kind[T]) Now() (s watchcache.Snapshot[*view.Entry]) {
	if k.Resource == nil {
		return s
	}
	return k.Resource.Bucket().Snapshot()
}

// Changed appends what was written and what is gone since it was last asked. An object
// that cannot be read is none, and told to unreadable.
func (k *Kind[T]) Changed(now watchcache.Snapshot[*view.Entry], unreadable func(kind, name string, err error), written, gone *[]*T) {
	if k.Resource == nil {
		return
	}
	if k.of == nil {
		k.of = map[string]*T{}
	}
	now.Changed(k.from, func(was, is *watchcache.Item[*view.Entry]) {
		if is != nil {
			one, err := k.decode(is)
			if err == nil {
				k.of[is.Key] = one
				*written = append(*written, one)
				return
			}
			unreadable(k.Resource.Def.Kind, is.Key, err)
			was = is
		}
		if one := k.of[was.Key]; one != nil {
			delete(k.of, was.Key)
			*gone = append(*gone, one)
		}
	})
	k.from = now
}

// All are those that could be read when Changed was called last.
func (k *Kind[T]) All() []*T {
	out := make([]*T, 0, len(k.of))
	for _, one := range k.of {
		out = append(out, one)
	}
	return out
}

func (k *Kind[T]) decode(it *watchcache.Item[*view.Entry]) (*T, error) {
	// What was begun has to end, whoever waits: the next request needs it too.
	data, err := k.Resource.View(context.Background(), it.Value, k.Resource.Def.StorageVersion)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		return nil, err
	}
	if o := any(out).(metav1.Object); path.Join(o.GetNamespace(), o.GetName()) != it.Key {
		return nil, fmt.Errorf("it says that it is %q of namespace %q", o.GetName(), o.GetNamespace())
	}
	return out, nil
}
