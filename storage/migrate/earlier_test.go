package migrate

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// crashIn goes on from what was saved, by pages of 10, and crashes when so many
// are done, of which the last was not saved. It returns what is saved then.
func crashIn(t *testing.T, m *storagetest.Memory, saved Progress, pages int) Progress {
	t.Helper()
	crash := errors.New("crash")
	_, err := Run(t.Context(), m, Options{Prefix: "/p/", PageSize: 10, Rewrite: toV2, From: saved, Since: saved.Revision, Progress: func(p Progress) error {
		if pages--; pages == 0 {
			return crash
		}
		saved = p
		return nil
	}})
	if !errors.Is(err, crash) {
		t.Fatal(err)
	}
	return saved
}

// TestRunCrashesAgain: a run that goes on after a crash passes what the crashed
// one did, and saves revisions of its own from then on. So what it did itself
// counts after a crash of its own, also when the store no longer knows of the
// time of the first.
func TestRunCrashesAgain(t *testing.T) {
	for pages := 1; pages <= 6; pages++ {
		t.Run(fmt.Sprintf("in page %d", pages), func(t *testing.T) {
			m := fill(t, 80)
			first := crashIn(t, m, Progress{}, 2)
			between := mustRevision(t, m)
			second := crashIn(t, m, first, pages)
			switch {
			case pages <= 2: // the saved page has keys that the first rewrote
				if second.Revision != first.Revision {
					t.Errorf("saved %+v, then %+v", first, second)
				}
			case second.Revision < between:
				t.Errorf("saved %+v, which is before %d", second, between)
			default:
				if err := m.Compact(t.Context(), between); err != nil {
					t.Fatal(err)
				}
			}
			p, err := Run(t.Context(), m, Options{Prefix: "/p/", PageSize: 10, Rewrite: toV2, From: second, Since: second.Revision})
			if err != nil || p.Done != 80 || p.Rewritten != 80 || p.Revision != 0 {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

// TestRunAfterHistoryIsGone: when nobody knows what a crashed run did after what
// it saved, what the next one does counts all the same after another crash.
func TestRunAfterHistoryIsGone(t *testing.T) {
	m := fill(t, 60)
	for i := 25; i < 60; i++ {
		set(m, fmt.Sprintf("/p/%04d", i), "v2 before")
	}
	saved := crashIn(t, m, Progress{}, 2)
	if err := m.Compact(t.Context(), mustRevision(t, m)); err != nil {
		t.Fatal(err)
	}
	saved = crashIn(t, m, saved, 2) // it did 5 more
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", PageSize: 10, Rewrite: toV2, From: saved, Since: saved.Revision})
	if err != nil || p.Done != 60 || p.Rewritten != 15 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestRunCannotSayWhatWasDone: what an earlier run did is not passed over while Rewrite says
// nothing of what was there before.
func TestRunCannotSayWhatWasDone(t *testing.T) {
	m := fill(t, 10)
	saved := Progress{Revision: mustRevision(t, m)}
	set(m, "/p/0000", "v2 0")
	full := true
	o := Options{Prefix: "/p/", From: saved, Since: saved.Revision, Rewrite: func(ctx context.Context, kv storage.KV) ([]byte, bool, error) {
		if full && kv.Key == "/p/0000" && kv.Revision <= saved.Revision {
			return nil, false, Later(errSentinel)
		}
		return toV2(ctx, kv)
	}}
	p, err := Run(t.Context(), m, o)
	if !errors.Is(err, errSentinel) || p.Done != 0 || p.Cursor != "" {
		t.Fatalf("%+v, %v", p, err)
	}
	full, o.From, o.Since = false, p, p.Revision
	if p, err = Run(t.Context(), m, o); err != nil || p.Done != 10 || p.Rewritten != 10 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestRunBesideWriters: what others write while a run goes on is none of its
// work, unless the crashed run had rewritten it before.
func TestRunBesideWriters(t *testing.T) {
	m := fill(t, 80)
	saved := crashIn(t, m, Progress{}, 2)
	writes := map[string][]string{ // at the rewrite of a key
		"/p/0010": {"/p/0015", "/p/0032", "/p/0075"}, // of the crashed run, of a page to come, of one far behind
		"/p/0020": {"/p/0025"},                       // of the page that was read
	}
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", PageSize: 10, Concurrency: 1, From: saved, Since: saved.Revision, Rewrite: func(ctx context.Context, kv storage.KV) ([]byte, bool, error) {
		for _, key := range writes[kv.Key] {
			set(m, key, "v2 by somebody else")
		}
		delete(writes, kv.Key)
		return toV2(ctx, kv)
	}})
	if err != nil || p.Done != 80 || p.Skipped != 3 || p.Rewritten != 77 {
		t.Errorf("%+v, %v", p, err)
	}
	wantAll(t, m, 80)
}

// TestRunCrashedWithinAPage: a crashed run may have rewritten the last key of a
// page before the first, and others may have made keys between them.
func TestRunCrashedWithinAPage(t *testing.T) {
	m := fill(t, 40)
	saved := Progress{Revision: mustRevision(t, m)}
	set(m, "/p/0008", "v2 8")
	for i := range 10 {
		set(m, fmt.Sprintf("/p/0002-%d", i), "v2 new")
	}
	saved = crashIn(t, m, saved, 2)
	if saved.Cursor != "/p/0002-6" || saved.Rewritten != 3 {
		t.Fatalf("saved %+v", saved)
	}
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", PageSize: 10, Rewrite: toV2, From: saved, Since: saved.Revision})
	if err != nil || p.Done != 50 || p.Rewritten != 40 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestRunKnowsWhereTheEarlierOneEnded: a key that was written last before the earlier run
// saved its progress, and is not as it should be, is none that it rewrote.
func TestRunKnowsWhereTheEarlierOneEnded(t *testing.T) {
	m := fill(t, 0)
	set(m, "/p/last", "v1 last")
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", PageSize: 1, Rewrite: toV2, Since: mustRevision(t, m)})
	if err != nil || p.Rewritten != 1 || p.Revision != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// forgetful is a store that does not answer what was there at a revision.
type forgetful struct {
	*storagetest.Memory
	revision int64
	kind     storage.Kind
}

func (f forgetful) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	if r.Revision == f.revision {
		return storage.Page{}, &storage.Error{Kind: f.kind}
	}
	return f.Memory.Range(ctx, r)
}

// TestRunMustKnowWhatWasThere: a store that is away is not one that has forgotten: nobody
// counts what it would say.
func TestRunMustKnowWhatWasThere(t *testing.T) {
	for kind, want := range map[storage.Kind]Progress{
		storage.Unavailable: {},
		storage.Compacted:   {Done: 20, Rewritten: 10, Skipped: 10},
	} {
		m := fill(t, 20)
		saved := Progress{Revision: mustRevision(t, m)}
		crashIn(t, m, saved, 1) // and 10 keys are rewritten
		p, err := Run(t.Context(), forgetful{m, saved.Revision, kind}, Options{Prefix: "/p/", PageSize: 10, Rewrite: toV2, From: saved, Since: saved.Revision})
		if got := storage.KindOf(err); (err != nil) != (kind == storage.Unavailable) || err != nil && got != kind {
			t.Errorf("%v: %v", kind, err)
		}
		if p.Done != want.Done || p.Rewritten != want.Rewritten || p.Skipped != want.Skipped {
			t.Errorf("%v: %+v", kind, p)
		}
	}
}
