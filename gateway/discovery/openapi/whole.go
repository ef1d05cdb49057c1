package openapi

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// whole is the version 2 document of everything. It is made of what is kept of each
// kind, so that a changed kind costs itself.
type whole struct {
	kinds   []*kind
	foreign []*Foreign
	// own is what is served here, made on first use; alone is a document of that.
	own   func() [sections]fragments
	alone forms

	report func(error)
	begin  sync.Once
	// with is the document that has what others describe, too, once that is joined, which
	// closes joined; late closes when nobody is to wait for it any more.
	with         forms
	joined, late chan struct{}
	// adopted is how others were joined the last time, in documents before this one too.
	adopted *atomic.Pointer[map[*Foreign]*adopted]
}

func newWhole(kinds []*kind, foreign []*Foreign, previous *whole, report func(error)) *whole {
	w := &whole{kinds: kinds, foreign: slices.Clone(foreign), report: report, joined: make(chan struct{}), late: make(chan struct{})}
	w.own = sync.OnceValue(func() [sections]fragments {
		all := make([]fragments, len(kinds))
		onAllCores(len(kinds), func(i int) { all[i] = kinds[i].v2() })
		return joined(all)
	})
	w.alone = formsOf(sync.OnceValue(func() string { return hashOf(kinds) }), w.own, report)
	if w.adopted = new(atomic.Pointer[map[*Foreign]*adopted]); previous != nil {
		w.adopted = previous.adopted
	}
	return w
}

func formsOf(hash func() string, parts func() [sections]fragments, report func(error)) forms {
	return newForms(hash, func() (Body, error) { return joinJSON(parts()) }, func() (Body, error) {
		all := parts()
		for s, list := range all {
			some := make(fragments, len(list))
			onAllCores(len(list), func(i int) { some[i] = list[i].inProtobuf(report) })
			all[s] = slices.DeleteFunc(some, func(f *fragment) bool { return f == nil })
		}
		return joinProtobuf(all)
	}, report)
}

// patience is how long requests for what is served here wait for what others describe to
// be joined with it. That takes as long only where others describe very much.
const patience = time.Second

// now is the document with what others describe, or without it while that takes too long.
func (w *whole) now() *forms {
	if len(w.foreign) == 0 {
		return &w.alone
	}
	w.begin.Do(func() {
		w.own()
		time.AfterFunc(patience, func() { close(w.late) })
		go w.join()
	})
	select {
	case <-w.joined:
		return &w.with
	default:
	}
	select {
	case <-w.joined:
		return &w.with
	case <-w.late:
		return &w.alone
	}
}

// join makes the document that has what others describe.
func (w *whole) join() {
	var before map[*Foreign]*adopted
	if kept := w.adopted.Load(); kept != nil {
		before = *kept
	}
	parts, after := adopt(w.own(), w.foreign, before)
	for _, f := range w.foreign {
		if a := after[f]; a.err != nil && before[f] != a {
			w.report(f.failed(a.err))
		}
	}
	w.adopted.Store(&after)
	hash := sync.OnceValue(func() string {
		var all strings.Builder
		all.WriteString(w.alone.hashOf())
		for _, f := range w.foreign {
			all.WriteString(f.hash)
		}
		return digest([]byte(all.String()))
	})
	w.with = formsOf(hash, func() [sections]fragments { return parts }, w.report)
	close(w.joined)
}
