package etcd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/storage"
)

// TestLocalRevisionIsWhatAnybodyKnows: whoever was told of a revision, by
// whatever, must not be answered with an earlier one.
func TestLocalRevisionIsWhatAnybodyKnows_RV05(t *testing.T) {
	e := startAlone(t)
	s := e.Store()
	ctx := t.Context()
	wantAtLeast := func(what string, rev int64) {
		t.Helper()
		if got, err := s.Revision(ctx); err != nil || got < rev {
			t.Errorf("after %s at %d the revision is %d, %v", what, rev, got, err)
		}
	}
	// behindBack writes as something that tells nobody, like a lease that expires.
	behindBack := func(key string) int64 {
		t.Helper()
		resp, err := s.client.Put(ctx, key, "x")
		if err != nil {
			t.Fatal(err)
		}
		return resp.Header.Revision
	}
	rev, err := s.Create(ctx, "/a", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	wantAtLeast("a write", rev)
	if got, _ := s.Revision(ctx); got != rev {
		t.Errorf("the revision is %d, the last write was %d", got, rev)
	}
	hidden := behindBack("/a")
	if _, err := s.Update(ctx, "/a", []byte("2"), rev, 0); storage.KindOf(err) != storage.Conflict {
		t.Fatal(err)
	}
	wantAtLeast("a refused write", hidden)
	hidden = behindBack("/b")
	if _, err := s.Get(ctx, "/b"); err != nil {
		t.Fatal(err)
	}
	wantAtLeast("a get", hidden)
	hidden = behindBack("/b")
	if _, err := s.Range(ctx, storage.Range{Prefix: "/b"}); err != nil {
		t.Fatal(err)
	}
	wantAtLeast("a range", hidden)
	hidden = behindBack("/c")
	watching, stop := context.WithCancel(ctx)
	defer stop()
	batches, _ := s.Watch(watching, "/c", hidden)
	for b := range batches {
		if len(b.Events) > 0 {
			break
		}
	}
	wantAtLeast("a watch", hidden)
	s.local.saw(1)
	wantAtLeast("an old revision", hidden)
}

// TestLocalRangeHasNoUpperEnd: prefixes without a successor reach to the last
// key.
func TestLocalRangeHasNoUpperEnd(t *testing.T) {
	e := start(t, t.TempDir())
	keys := []string{"\x00a", "\x00b", "a", "\xff", "\xff\xff\xffz"}
	for _, k := range keys {
		if _, err := e.Store().Create(t.Context(), k, []byte("x"), 0); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string][]string{
		"": keys, "\xff": keys[3:], "\xff\xff": keys[4:], "\x00": keys[:2], "\x00a": keys[:1],
	} {
		for name, s := range map[string]*Store{"embedded": e.Store(), "client": connect(t, e)} {
			page, err := s.Range(t.Context(), storage.Range{Prefix: prefix})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, kv := range page.KVs {
				got = append(got, kv.Key)
			}
			if !slices.Equal(got, want) || page.More {
				t.Errorf("%s: below %q are %q, want %q", name, prefix, got, want)
			}
		}
	}
}

// TestReadsDuringClose: the server does not stop under a read.
func TestReadsDuringClose(t *testing.T) {
	e, err := StartEmbedded(t.Context(), EmbeddedConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s := e.Store()
	for i := range 50 {
		if _, err := s.Create(t.Context(), fmt.Sprintf("/k%d", i), []byte("x"), 0); err != nil {
			t.Fatal(err)
		}
	}
	var reading, begun sync.WaitGroup
	for range 4 {
		begun.Add(1)
		reading.Go(func() {
			for i := 0; ; i++ {
				page, err := s.Range(t.Context(), storage.Range{Prefix: "/k"})
				if err != nil {
					if storage.KindOf(err) != storage.Unavailable {
						t.Error(err)
					}
					return
				}
				if len(page.KVs) != 50 {
					t.Errorf("%d keys", len(page.KVs))
					return
				}
				if i == 10 {
					begun.Done()
				}
			}
		})
	}
	begun.Wait()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	reading.Wait()
	if _, err := s.local.revision(); err != nil {
		t.Errorf("the revision without a listener needs no server: %v", err)
	}
	if _, err := s.Revision(t.Context()); storage.KindOf(err) != storage.Unavailable {
		t.Errorf("a closed store tells its revision: %v", err)
	}
}
