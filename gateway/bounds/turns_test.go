package bounds

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Users take turns, however many of one wait; one that has left is passed by.
func TestUsersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(2)
		if err := turns.Take(t.Context(), "noisy"); err != nil {
			t.Fatal(err)
		}
		took := make(chan string, 10)
		wait := func(ctx context.Context, user string) {
			go func() {
				if turns.Take(ctx, user) == nil {
					took <- user
				} else {
					took <- user + " left"
				}
			}()
			synctest.Wait()
		}
		ctx, leave := context.WithCancel(t.Context())
		wait(t.Context(), "noisy")
		wait(t.Context(), "noisy")
		wait(ctx, "gone")
		wait(ctx, "quiet")
		wait(t.Context(), "quiet")
		wait(t.Context(), "noisy")
		leave()
		synctest.Wait()
		if a, b := <-took, <-took; a+b != "gone leftquiet left" && a+b != "quiet leftgone left" {
			t.Errorf("%s, %s", a, b)
		}
		for _, want := range []string{"noisy", "quiet", "noisy", "noisy"} {
			select {
			case user := <-took:
				t.Fatalf("%s has a turn that nobody gave", user)
			default:
			}
			turns.Give()
			if got := <-took; got != want {
				t.Errorf("%s has the turn of %s", got, want)
			}
		}
		turns.Give()
		if turns.free != 1 || len(turns.lines) != 0 {
			t.Errorf("%d are free, %d wait", turns.free, len(turns.lines))
		}
	})
}

// There is one less than processors, and one at least; who does not wait leaves none
// behind.
func TestTurnsOfProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for processors, want := range map[int]int{1: 1, 2: 1, 3: 2, 8: 7} {
			turns := NewTurns(processors)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			n := 0
			for turns.Take(ctx, "u") == nil {
				n++
			}
			cancel()
			if n != want || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Errorf("%d turns of %d processors", n, processors)
			}
			for range n {
				turns.Give()
			}
			if turns.free != want {
				t.Errorf("%d given back", turns.free)
			}
		}
	})
}
