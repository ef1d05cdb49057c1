package read

import (
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// tried is how many keys of a namespace are looked at before the others are passed
// over: it costs about as much as finding the next namespace.
const tried = 16

// beyond sorts after all names.
const beyond = "\xff"

// ascend calls fn, in key order, for the items below prefix and after a key that may
// be selected, until fn returns false. A name is looked up in each namespace, and
// labels that few objects have in an index; nothing else is visited for long.
func (s *selection) ascend(in watchcache.Snapshot[*view.Entry], prefix, after string, fn func(watchcache.Item[*view.Entry]) bool) {
	switch {
	case s.name == "":
		s.ascendLabelled(in, prefix, after, fn)
	case prefix != "" || !s.resource.Def.Namespaced:
		if it, ok := in.Get(prefix + s.name); ok && it.Key > after {
			fn(it)
		}
	default:
		s.ascendNamespaces(in, after, fn)
	}
}

// ascendLabelled calls fn for the items that have the selected labels, and maybe for
// others.
func (s *selection) ascendLabelled(in watchcache.Snapshot[*view.Entry], prefix, after string, fn func(watchcache.Item[*view.Entry]) bool) {
	keys, ok := s.resource.Labelled(in, prefix, s.labels)
	if !ok {
		in.Ascend(prefix, after, fn)
		return
	}
	first, found := slices.BinarySearch(keys, max(prefix, after))
	if found {
		first++ // neither a prefix nor what came before is selected
	}
	for _, key := range keys[first:] {
		if !strings.HasPrefix(key, prefix) {
			return
		}
		if it, ok := in.Get(key); ok && !fn(it) {
			return
		}
	}
}

// ascendNamespaces calls fn for the items of the selected name in all namespaces.
func (s *selection) ascendNamespaces(in watchcache.Snapshot[*view.Entry], after string, fn func(watchcache.Item[*view.Entry]) bool) {
	for more := true; more; {
		more = false
		seen, namespace := 0, ""
		in.Ascend("", after, func(it watchcache.Item[*view.Entry]) bool {
			after = it.Key
			at, name := catalog.SplitKey(it.Key)
			if name == s.name && !fn(it) {
				return false
			}
			if at != namespace {
				seen, namespace = 0, at
			}
			seen++
			more = seen == tried
			return !more
		})
		if !more {
			return
		}
		if it, ok := in.Get(catalog.JoinKey(namespace, s.name)); ok && it.Key > after && !fn(it) {
			return
		}
		after = catalog.JoinKey(namespace, beyond)
	}
}
