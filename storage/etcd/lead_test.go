package etcd

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLeadStartsOver: a leader whose work ends early leads again after a
// while, until it is told to stop.
func TestLeadStartsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &candidate{local: &localServer{}}
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var at []time.Duration
		err := s.lead(ctx, "x", func(context.Context) {
			if at = append(at, time.Since(began)); len(at) == 3 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || len(at) != 3 || at[0] != 0 || at[1] != leadRetry || at[2] != 2*leadRetry {
			t.Errorf("led at %v, ended with %v", at, err)
		}
	})
}

func TestLeadEndsWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &candidate{local: &localServer{}}
		ctx, cancel := context.WithTimeout(t.Context(), leadRetry/2)
		defer cancel()
		led := 0
		if err := s.lead(ctx, "x", func(context.Context) { led++ }); !errors.Is(err, context.DeadlineExceeded) || led != 1 {
			t.Errorf("led %d times, ended with %v", led, err)
		}
	})
}

// TestRevisionShareStartsOneRead: callers that come before the first read has
// begun are of that read.
func TestRevisionShareStartsOneRead_RV05(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := 0
		finish := make(chan struct{})
		r := newRevisionShare(func(context.Context) (int64, error) {
			started++
			<-finish
			return int64(started), nil
		})
		got := make(chan int64, 60)
		ask := func() {
			rev, err := r.get(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- rev
		}
		for range 50 {
			go ask()
		}
		synctest.Wait()
		if started != 1 || !r.running {
			t.Fatalf("%d reads are under way, running: %v", started, r.running)
		}
		for range 5 {
			go ask()
		}
		synctest.Wait()
		if started != 1 {
			t.Fatalf("%d reads at a time", started)
		}
		close(finish)
		synctest.Wait()
		if started > 2 || r.running || len(got) != 55 {
			t.Errorf("%d reads for 55 callers, %d answered, running: %v", started, len(got), r.running)
		}
	})
}
