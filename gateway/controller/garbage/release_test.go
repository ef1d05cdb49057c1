package garbage

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// What fails of a few is told of all, and keeps nothing else from being done; where
// much fails the rest is left for later.
func TestFailuresAreJoinedUntilThereAreMany(t *testing.T) {
	var tried atomic.Int64
	odd := errors.New("odd")
	if err := each(t.Context(), make([]controller.Key, 100), func(controller.Key) error {
		if n := tried.Add(1); n <= maxFailures-1 {
			return odd
		}
		return nil
	}); strings.Count(err.Error(), "odd") != maxFailures-1 || tried.Load() != 100 {
		t.Errorf("%d were tried: %v", tried.Load(), err)
	}
	tried.Store(0)
	if err := each(t.Context(), make([]controller.Key, 10_000), func(controller.Key) error {
		tried.Add(1)
		return odd
	}); err == nil || tried.Load() > 1000 {
		t.Errorf("%d were tried where all fail: %v", tried.Load(), err)
	}
}
