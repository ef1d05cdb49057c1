package migrate

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// scripted answers the first updates of /p/a with errors, then as the store
// does.
type scripted struct {
	*storagetest.Memory
	answers []error
	others  func() // what somebody else does before an answer
	getErr  error
	gets    int
}

func (s *scripted) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	if len(s.answers) == 0 {
		return s.Memory.Update(ctx, key, value, rev, ttl)
	}
	err := s.answers[0]
	s.answers = s.answers[1:]
	if s.others != nil {
		s.others()
	}
	return 0, err
}

func (s *scripted) Get(ctx context.Context, key string) (storage.KV, error) {
	s.gets++
	if s.getErr != nil {
		return storage.KV{}, s.getErr
	}
	return s.Memory.Get(ctx, key)
}

func TestKeyAnswers(t *testing.T) {
	errOdd := errors.New("odd")
	gone := &storage.Error{Kind: storage.NotFound}
	away := &storage.Error{Kind: storage.Unavailable}
	full, changed := &storage.Error{Kind: storage.Full}, &storage.Error{Kind: storage.Changed}
	current := func(m *storagetest.Memory) *storage.KV {
		kv, err := m.Get(t.Context(), "/p/a")
		if err != nil {
			t.Fatal(err)
		}
		return &kv
	}
	for _, tc := range []struct {
		name      string
		answers   func(*storagetest.Memory) []error
		others    string // what somebody else writes meanwhile
		getErr    error
		rewritten bool
		gets      int
		want      error // the failure, as errors.Is finds it
		lost      bool  // the store is away
	}{
		{name: "at once", rewritten: true},
		{name: "gone", answers: func(*storagetest.Memory) []error { return []error{gone} }},
		{name: "a conflict that says what is there", answers: func(m *storagetest.Memory) []error {
			return []error{&storage.Error{Kind: storage.Conflict, Current: current(m)}}
		}, rewritten: true},
		{name: "a conflict that does not", answers: func(*storagetest.Memory) []error {
			return []error{&storage.Error{Kind: storage.Conflict}}
		}, rewritten: true, gets: 1},
		{name: "an answer that is lost", answers: func(*storagetest.Memory) []error { return []error{away} }, rewritten: true, gets: 1},
		{name: "lost, and somebody else did it", answers: func(*storagetest.Memory) []error { return []error{away} }, others: "v2 y", gets: 1},
		{name: "lost, and somebody else undid it", answers: func(*storagetest.Memory) []error { return []error{away} }, others: "v1 y", rewritten: true, gets: 1},
		{name: "lost, then gone", answers: func(*storagetest.Memory) []error { return []error{away} }, getErr: gone, gets: 1},
		{name: "the store is full", answers: func(*storagetest.Memory) []error { return []error{full} }, want: full, lost: true},
		{name: "what guards it has changed", answers: func(*storagetest.Memory) []error { return []error{changed} }, want: changed, lost: true},
		{name: "lost, and the store is away", answers: func(*storagetest.Memory) []error { return []error{away} }, getErr: away, gets: 1, want: away, lost: true},
		{name: "no error of a store", answers: func(*storagetest.Memory) []error { return []error{errOdd} }, want: errOdd},
		{name: "another refusal that says what is there", answers: func(m *storagetest.Memory) []error {
			return []error{&storage.Error{Kind: storage.TooLarge, Current: current(m), Cause: errOdd}}
		}, want: errOdd},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &scripted{Memory: storagetest.NewMemory(), getErr: tc.getErr}
			set(s.Memory, "/p/a", "v1 x")
			kv := *current(s.Memory)
			if tc.answers != nil {
				s.answers = tc.answers(s.Memory)
			}
			if tc.others != "" {
				s.others = func() { set(s.Memory, "/p/a", tc.others) }
			}
			r := &run{store: s, o: Options{Rewrite: toV2}, writes: rate.NewLimiter(rate.Inf, 1)}
			rewritten, err := r.key(t.Context(), kv)
			var lost *awayError
			if rewritten != tc.rewritten || !errors.Is(err, tc.want) || errors.As(err, &lost) != tc.lost || s.gets != tc.gets {
				t.Errorf("rewritten %v, %v, after %d gets", rewritten, err, s.gets)
			}
		})
	}
}

// TestKeyGivesUp: a key that changes under every write fails, and no run goes
// on for ever because of it.
func TestKeyGivesUp(t *testing.T) {
	s := &scripted{Memory: storagetest.NewMemory()}
	set(s.Memory, "/p/a", "v1 x")
	for range maxConflicts {
		s.answers = append(s.answers, &storage.Error{Kind: storage.Conflict})
	}
	p, err := Run(t.Context(), s, Options{Prefix: "/p/", Rewrite: toV2})
	if err != nil || p.Failed != 1 || len(p.Failures) != 1 || p.Failures[0].Key != "a" || len(s.answers) != 0 {
		t.Errorf("%+v, %v, %d conflicts left", p, err, len(s.answers))
	}
	s.answers = nil
	if p, err = Run(t.Context(), s, Options{Prefix: "/p/", Rewrite: toV2}); err != nil || p.Rewritten != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestTotalFollowsWhatAppears: keys that come and go while a run is under way.
func TestTotalFollowsWhatAppears(t *testing.T) {
	m := fill(t, 10)
	var totals []int64
	p, err := Run(t.Context(), m, Options{Prefix: "/p/", PageSize: 4, Concurrency: 1, Rewrite: toV2, Progress: func(p Progress) error {
		if len(totals) == 0 {
			for _, key := range []string{"/p/1000", "/p/1001", "/p/1002"} {
				set(m, key, "v2 new")
			}
		}
		totals = append(totals, p.Total)
		return nil
	}})
	if err != nil || p.Total != 13 || p.Done != 13 || len(totals) != 4 || totals[0] != 10 || totals[1] != 10 || totals[2] != 12 || totals[3] != 13 {
		t.Errorf("%+v, %v; totals %v", p, err, totals)
	}
	m = fill(t, 10)
	p, err = Run(t.Context(), m, Options{Prefix: "/p/", From: Progress{Cursor: "/p/0003", Done: 4, Rewritten: 4}, PageSize: 4, Rewrite: toV2})
	if err != nil || p.Total != 10 || p.Done != 10 || p.Rewritten != 10 {
		t.Errorf("resumed: %+v, %v", p, err)
	}
}
