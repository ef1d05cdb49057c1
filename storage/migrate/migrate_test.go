package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// toV2 rewrites "v1 ..." to "v2 ...", and cannot read "bad".
func toV2(_ context.Context, kv storage.KV) ([]byte, bool, error) {
	switch rest, old := strings.CutPrefix(string(kv.Value), "v1 "); {
	case old:
		return []byte("v2 " + rest), true, nil
	case strings.HasPrefix(string(kv.Value), "v2 "):
		return nil, false, nil
	}
	return nil, false, errors.New("not understood")
}

func fill(t *testing.T, n int) *storagetest.Memory {
	t.Helper()
	m := storagetest.NewMemory()
	for i := range n {
		m.Apply(storage.Event{KV: storage.KV{Key: fmt.Sprintf("/p/%04d", i), Value: fmt.Appendf(nil, "v1 %d", i)}})
	}
	m.Apply(storage.Event{KV: storage.KV{Key: "/q/other", Value: []byte("v1 other")}})
	return m
}

func set(m *storagetest.Memory, key, value string) {
	m.Apply(storage.Event{KV: storage.KV{Key: key, Value: []byte(value)}})
}

// wantAll checks that all n keys hold their own value at version 2.
func wantAll(t *testing.T, m *storagetest.Memory, n int) {
	t.Helper()
	page, err := m.Range(t.Context(), storage.Range{Prefix: "/p/"})
	if err != nil || len(page.KVs) != n {
		t.Fatalf("%d keys, %v; want %d", len(page.KVs), err, n)
	}
	for _, kv := range page.KVs {
		if !strings.HasPrefix(string(kv.Value), "v2 ") {
			t.Errorf("%s is %q", kv.Key, kv.Value)
		}
	}
}

func TestRunRewritesEverythingOnce(t *testing.T) {
	m := fill(t, 123)
	set(m, "/p/0007", "v2 already")
	var saved []Progress
	o := Options{Prefix: "/p/", Rewrite: toV2, PageSize: 10, Progress: func(p Progress) error {
		saved = append(saved, p)
		return nil
	}}
	p, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Total != 123 || p.Done != 123 || p.Rewritten != 122 || p.Skipped != 1 || p.Failed != 0 || p.Cursor != "/p/0122" {
		t.Errorf("got %+v", p)
	}
	wantAll(t, m, 123)
	if kv, err := m.Get(t.Context(), "/q/other"); err != nil || string(kv.Value) != "v1 other" {
		t.Errorf("a key outside the prefix: %q, %v", kv.Value, err)
	}
	if len(saved) != 13 || saved[0].Done != 10 || saved[0].Total != 123 || saved[0].Cursor != "/p/0009" {
		t.Errorf("%d pages, first %+v", len(saved), saved[0])
	}
	// A second run has nothing to write.
	before, err := m.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: toV2}); err != nil || p.Skipped != 123 {
		t.Errorf("second run: %+v, %v", p, err)
	}
	if after, err := m.Revision(t.Context()); err != nil || after != before {
		t.Errorf("the second run wrote: revision %d, then %d, %v", before, after, err)
	}
}

func TestRunResumes(t *testing.T) {
	m := fill(t, 100)
	var saved Progress
	runs := 0
	for {
		runs++
		ctx, cancel := context.WithCancel(t.Context())
		pages := 0
		p, err := Run(ctx, m, Options{Prefix: "/p/", From: saved, PageSize: 9, Rewrite: toV2, Progress: func(p Progress) error {
			saved = p
			if pages++; pages == 2 {
				cancel() // killed between two pages
			}
			return nil
		}})
		cancel()
		if err == nil {
			if p.Done != 100 || p.Rewritten != 100 || p.Total != 100 {
				t.Errorf("at the end: %+v", p)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || p.Cursor != saved.Cursor || p.Done != saved.Done {
			t.Fatalf("stopped with %v at %+v, saved %+v", err, p, saved)
		}
		if err := m.Compact(t.Context(), mustRevision(t, m)); err != nil { // no page of the past is needed
			t.Fatal(err)
		}
	}
	if runs < 5 {
		t.Errorf("only %d runs", runs)
	}
	wantAll(t, m, 100)
}

func mustRevision(t *testing.T, m *storagetest.Memory) int64 {
	t.Helper()
	rev, err := m.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func TestRunCollectsFailures(t *testing.T) {
	m := fill(t, 200)
	for i := 50; i < 100; i++ {
		set(m, fmt.Sprintf("/p/%04d", i), "bad")
	}
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: toV2, PageSize: 30})
	if err != nil {
		t.Fatal(err)
	}
	if p.Failed != 50 || p.Rewritten != 150 || p.Done != 200 || len(p.Failures) != maxFailures {
		t.Errorf("got %+v", p)
	}
	if f := p.Failures[0]; !strings.HasPrefix(f.Key, "00") || f.Reason != "not understood" {
		t.Errorf("failure says %+v", f)
	}
}

// TestRunRewritePanics: what a rewrite does with a stored value is not trusted;
// the key fails, the run and the process go on.
func TestRunRewritePanics(t *testing.T) {
	m := fill(t, 10)
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: func(ctx context.Context, kv storage.KV) ([]byte, bool, error) {
		if kv.Key == "/p/0004" {
			panic("cannot happen")
		}
		return toV2(ctx, kv)
	}})
	want := Failure{Key: "0004", Reason: "rewriting it panicked: cannot happen"}
	if err != nil || p.Done != 10 || p.Rewritten != 9 || p.Failed != 1 || len(p.Failures) != 1 || p.Failures[0] != want {
		t.Errorf("%+v, %v", p, err)
	}
	r := run{o: Options{Rewrite: func(context.Context, storage.KV) ([]byte, bool, error) { panic(errSentinel) }}}
	value, changed, err := r.rewrite(t.Context(), storage.KV{})
	var caught *Panic
	if value != nil || changed || !errors.As(err, &caught) || caught.Value != errSentinel || !strings.Contains(string(caught.Stack), "migrate_test.go") {
		t.Errorf("%q, %v, %+v", value, changed, err)
	}
}

var errSentinel = errors.New("sentinel")

func TestRunLosesNoUpdate(t *testing.T) {
	const keys = 40
	m := fill(t, keys)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	counts := make([]int, keys)
	for w := range 4 {
		wg.Go(func() {
			for i := w; ctx.Err() == nil; i = (i + 4) % keys {
				key := fmt.Sprintf("/p/%04d", i)
				kv, err := m.Get(ctx, key)
				if err != nil {
					continue
				}
				// A writer that still writes the version it found.
				value := string(kv.Value[:3]) + fmt.Sprint(counts[i]+1)
				if _, err := m.Update(ctx, key, []byte(value), kv.Revision, 0); err == nil {
					counts[i]++
				}
			}
		})
	}
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: toV2, PageSize: 7})
	stop()
	wg.Wait()
	if err != nil || p.Failed != 0 || p.Done != keys {
		t.Fatalf("%+v, %v", p, err)
	}
	for i, n := range counts {
		kv, err := m.Get(t.Context(), fmt.Sprintf("/p/%04d", i))
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("v2 %d", n); n > 0 && string(kv.Value) != want {
			t.Errorf("key %d holds %q, want %q", i, kv.Value, want)
		}
	}
}

func TestRunKeyGone(t *testing.T) {
	m := fill(t, 3)
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", Concurrency: 1, Rewrite: func(ctx context.Context, kv storage.KV) ([]byte, bool, error) {
		if kv.Key == "/p/0001" {
			m.Apply(storage.Event{KV: storage.KV{Key: kv.Key}, Deleted: true})
		}
		return toV2(ctx, kv)
	}})
	if err != nil || p.Rewritten != 2 || p.Skipped != 1 || p.Failed != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// unsure commits an update and then says that it does not know.
type unsure struct{ *storagetest.Memory }

func (u unsure) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	if _, err := u.Memory.Update(ctx, key, value, rev, ttl); err != nil {
		return 0, err
	}
	return 0, &storage.Error{Kind: storage.Unavailable, Key: key}
}

func TestRunUnknownOutcome(t *testing.T) {
	m := fill(t, 5)
	p, err := Run(t.Context(), unsure{m}, Options{Prefix: "/p/", Rewrite: toV2})
	if err != nil || p.Failed != 0 || p.Done != 5 || p.Rewritten != 5 {
		t.Errorf("%+v, %v", p, err)
	}
	wantAll(t, m, 5)
}

func TestRunDoesNotPassOverAnOutage(t *testing.T) {
	m := fill(t, 20)
	var saved Progress
	o := Options{Prefix: "/p/", PageSize: 5, Concurrency: 2}
	o.Progress = func(p Progress) error { saved = p; return nil }
	o.Rewrite = func(ctx context.Context, kv storage.KV) ([]byte, bool, error) {
		if kv.Key == "/p/0012" {
			m.Down(errors.New("away"))
		}
		return toV2(ctx, kv)
	}
	if _, err := Run(t.Context(), m, o); storage.KindOf(err) != storage.Unavailable {
		t.Fatalf("got %v", err)
	}
	m.Down(nil)
	o.From, o.Rewrite = saved, toV2
	p, err := Run(t.Context(), m, o)
	if err != nil || p.Done != 20 || p.Failed != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	wantAll(t, m, 20)
}

func TestRunStopsWithoutStore(t *testing.T) {
	m := fill(t, 5)
	m.Down(errors.New("away"))
	if _, err := Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: toV2}); storage.KindOf(err) != storage.Unavailable {
		t.Errorf("got %v", err)
	}
	m.Down(nil)
	errSave := errors.New("cannot save")
	_, err := Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: toV2, Progress: func(Progress) error { return errSave }})
	if !errors.Is(err, errSave) {
		t.Errorf("got %v", err)
	}
}

func TestRunRate(t *testing.T) {
	m := fill(t, 11)
	began := time.Now()
	if _, err := Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: toV2, Rate: 100}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 95*time.Millisecond {
		t.Errorf("11 keys at 100 a second took %v", took)
	}
}

// Keys that are as they should be do not wait for those that are written.
func TestRunWriteRate(t *testing.T) {
	m := fill(t, 5)
	for i := range 5000 {
		set(m, fmt.Sprintf("/p/done-%04d", i), "v2 x")
	}
	began := time.Now()
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: toV2, WriteRate: 100})
	if took := time.Since(began); err != nil || p.Rewritten != 5 || p.Skipped != 5000 || took < 39*time.Millisecond {
		t.Errorf("after %v: %+v, %v", took, p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p, err = Run(ctx, fill(t, 5), Options{Prefix: "/p/", WriteRate: 1e-9, Rewrite: func(ctx context.Context, kv storage.KV) ([]byte, bool, error) {
		if kv.Key == "/p/0001" {
			cancel()
		}
		return toV2(ctx, kv)
	}})
	if !errors.Is(err, context.Canceled) || p.Rewritten != 1 || p.Failed != 0 || p.Cursor != "/p/0000" {
		t.Errorf("%+v, %v", p, err)
	}
}

// What says nothing of a key ends the run before it.
func TestRunEndsWhereRewriteSaysLater(t *testing.T) {
	m := fill(t, 10)
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", Concurrency: 1, Rewrite: func(ctx context.Context, kv storage.KV) ([]byte, bool, error) {
		if kv.Key == "/p/0004" {
			return nil, false, Later(errSentinel)
		}
		return toV2(ctx, kv)
	}})
	if !errors.Is(err, errSentinel) || p.Failed != 0 || p.Rewritten != 4 || p.Cursor != "/p/0003" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: toV2, From: p}); err != nil || p.Rewritten != 10 || p.Done != 10 {
		t.Errorf("%+v, %v", p, err)
	}
}

// However slow a run is, it shows how far it is about every second.
func TestRunRateSavesOften(t *testing.T) {
	for rate, want := range map[float64]int64{3: 3, 0.5: 1, 1e6: 9} {
		enough := errors.New("enough")
		p, err := Run(t.Context(), fill(t, 9), Options{Prefix: "/p/", Rewrite: toV2, Rate: rate, Progress: func(Progress) error { return enough }})
		if !errors.Is(err, enough) || p.Done != want || p.Cursor != fmt.Sprintf("/p/%04d", want-1) {
			t.Errorf("rate %v: %+v, %v", rate, p, err)
		}
	}
}
