package read

import (
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// initial are the objects that a watch begins with. Nothing of its own is held for those of
// a client that selects nothing: what it is still to be sent is a snapshot, which others
// have as well.
type initial struct {
	// selected are those of a client that selects some.
	selected []*view.Entry
	// all, if more, are those below prefix and after a key.
	all           watchcache.Snapshot[*view.Entry]
	more          bool
	prefix, after string
}

// Initial returns the next of the objects that exist already, to be sent as ADDED before
// anything else: as many as asked for while there are so many, and none in the end.
func (w *Watch) Initial(most int) []*view.Entry {
	i := &w.initial
	if n := min(most, len(i.selected)); n > 0 {
		out := i.selected[:n:n]
		if i.selected = i.selected[n:]; len(i.selected) == 0 {
			i.selected = nil
		}
		return out
	}
	if !i.more {
		return nil
	}
	var out []*view.Entry
	i.more = false
	i.all.Ascend(i.prefix, i.after, func(it watchcache.Item[*view.Entry]) bool {
		if i.more = len(out) == most; i.more {
			return false
		}
		out, i.after = append(out, it.Value), it.Key
		return true
	})
	if !i.more {
		i.all = watchcache.Snapshot[*view.Entry]{}
	}
	return out
}

// perSelected is what is held of each object that a client selected, besides the object.
const perSelected = 8

// Held is how many bytes are held for the objects that the watch begins with, until they
// were all sent.
func (w *Watch) Held() int {
	if w == nil {
		return 0
	}
	return perSelected * cap(w.initial.selected)
}
