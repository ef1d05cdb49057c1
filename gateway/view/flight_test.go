package view

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// away is a flight of the view k of an entry, by somebody else, that is over
// with an error but not landed yet; it was of size entries.
func away(e *Entry, k Key, size int, err error) *flight {
	f := &flight{Key: k, size: size, done: make(chan struct{}), err: err}
	close(f.done)
	e.board(f)
	return f
}

func TestEachViewOfAnEntryHasItsFlight(t *testing.T) {
	e := entry(v1, "one", 7)
	k, other := Key{definition: 1}, Key{definition: 2}
	first, second := away(e, k, 1, nil), away(e, other, 1, nil)
	for _, f := range []*flight{first, second} {
		if there, added := e.board(&flight{Key: f.Key}); added || there != f {
			t.Error("a second flight of the same view takes off")
		}
	}
	e.land(first)
	if there, added := e.board(&flight{Key: other}); added || there != second {
		t.Error("another flight landed with it")
	}
	if _, added := e.board(&flight{Key: k}); !added {
		t.Error("the place of a flight that landed is taken")
	}
	e.land(first)
	e.land(second)
}

// Those who asked for all that a flight was about share its error. The others
// may have asked for what was not in its way, so they try themselves.
func TestAnErrorOfAFlightIsForThoseWhoAskedForNoLess_CRD18(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	failed := errors.New("it failed")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	one := entry(v1, "one", 7)
	away(one, r.KeyOf(encoding.At(v1beta1)), 1, failed)
	if _, err := r.View(ctx, one, v1beta1); !errors.Is(err, failed) || s.conv.Calls.Load() != 0 {
		t.Errorf("all of it: %v, %d conversions", err, s.conv.Calls.Load())
	}
	two := entry(v1, "two", 8)
	away(two, r.KeyOf(encoding.At(v1beta1)), 2, failed)
	if _, err := r.View(ctx, two, v1beta1); err != nil || s.conv.Calls.Load() != 1 {
		t.Errorf("a part of it: %v, %d conversions", err, s.conv.Calls.Load())
	}
}

func TestWhoseTimeIsOverWaitsForNobody(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	e := entry(v1, "one", 7)
	e.board(&flight{Key: r.KeyOf(encoding.At(v1beta1)), size: 1, done: make(chan struct{})})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := r.derive(ctx, []job{{entry: e}}, r.KeyOf(encoding.At(v1beta1)))
	if !apierrors.IsTimeout(err) || s.conv.Calls.Load() != 0 {
		t.Errorf("got %v, %d conversions", err, s.conv.Calls.Load())
	}
}

// What needs no conversion does not wait for what does.
func TestWhatNeedsNoConversionComesFirst_CRD18(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	foreign, local := entry(v1beta1, "one", 7), entry(v1, "two", 8)
	s.conv.BreakDown("broken")
	if _, err := r.bytesOf(t.Context(), []*Entry{foreign, local}, v1); err == nil {
		t.Fatal("converted by a broken converter")
	}
	if local.view(r.KeyOf(encoding.At(v1))) == nil {
		t.Error("the other object was not derived")
	}
	if !r.StoredAt(local, v1) || r.StoredAt(local, v1beta1) || r.StoredAt(foreign, v1) {
		t.Error("which version an object is stored at is mistaken")
	}
}

// A conversion goes on as long as somebody waits for it, and ends with the last
// of them, whoever asked first.
func TestAConversionEndsWithTheLastWhoWaits_CRD18(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	e := entry(v1, "one", 7)
	release := s.conv.Block()
	defer release()
	ask := func() (leave context.CancelFunc, done <-chan error) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := r.View(ctx, e, v1beta1)
			ended <- err
		}()
		return cancel, ended
	}
	leaveFirst, first := ask()
	defer leaveFirst()
	s.conv.Await(1)
	leaveSecond, second := ask()
	defer leaveSecond()
	f := e.flights.Load().flight
	awaitWaiting(t, f, 2)
	leaveFirst()
	awaitWaiting(t, f, 1)
	select {
	case err := <-first:
		t.Errorf("given up while somebody waits: %v", err)
	case err := <-second:
		t.Errorf("given up while somebody waits: %v", err)
	default:
	}
	leaveSecond()
	for _, done := range []<-chan error{first, second} {
		select {
		case err := <-done:
			if err == nil {
				t.Error("it came to an end")
			}
		case <-time.After(time.Minute):
			t.Fatal("it goes on for nobody")
		}
	}
	release()
	if _, err := r.View(t.Context(), e, v1beta1); err != nil { // who comes later begins anew
		t.Error(err)
	}
}

// awaitWaiting returns when so many wait for a flight.
func awaitWaiting(t *testing.T, f *flight, want int) {
	t.Helper()
	for n, late := -1, time.Now().Add(time.Minute); n != want; {
		f.mu.Lock()
		n = f.waiting
		f.mu.Unlock()
		if time.Now().After(late) {
			t.Fatalf("%d wait, want %d", n, want)
		}
	}
}
