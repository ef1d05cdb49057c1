package headroom

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPercentage(t *testing.T) {
	const mega = 1 << 20
	for live, want := range map[uint64]int{0: 100, 20 * mega: 100, 48 * mega: 100, 96 * mega: 62, 200 * mega: 43, 4000 * mega: 30, 1 << 62: 30} {
		if got := percentage(live); got != want {
			t.Errorf("%d MB: %d%%, want %d%%", live/mega, got, want)
		}
	}
	for live := uint64(mega); live < 8000*mega; live += mega {
		if more := live + mega; uint64(percentage(more)+1)*more < uint64(percentage(live))*live {
			t.Fatalf("%d MB more of live ones leave less for garbage", live/mega)
		}
	}
}

// Setting it stops the process, so a little more or less is left as it is.
func TestWhatIsWorthBeingSet(t *testing.T) {
	for _, c := range []struct {
		want, present int
		set           bool
	}{{100, 100, false}, {91, 100, false}, {90, 100, true}, {40, 100, true}, {32, 30, false}, {33, 30, true}, {100, 30, true}} {
		if got := differs(c.want, c.present); got != c.set {
			t.Errorf("%d%% in place of %d%%: %t", c.want, c.present, got)
		}
	}
}

// The heap of a process that holds much is not twice as large, and small ones are
// left alone.
func TestTheHeapIsFollowed(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("GOGC is set")
	}
	before := debug.SetGCPercent(100)
	debug.SetGCPercent(before)
	end := Follow()
	also := Follow()
	held := make([]byte, 400<<20)
	await(t, "a large heap", func(percent int) bool { return percent <= percentage(400<<20) })
	runtime.KeepAlive(held)
	held = nil
	await(t, "a small heap", func(percent int) bool { return percent == 100 })
	end()
	end() // again changes nothing
	if process.users != 1 {
		t.Errorf("%d follow", process.users)
	}
	also()
	if got := debug.SetGCPercent(before); got != before {
		t.Errorf("%d%% are left, it was %d%%", got, before)
	}
	// Nobody follows any more.
	runtime.GC()
	if process.users != 0 || debug.SetGCPercent(before) != before {
		t.Error("it is still followed")
	}
}

// await collects until the percentage is as wanted.
func await(t *testing.T, what string, ok func(percent int) bool) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; runtime.GC() {
		process.mu.Lock()
		present := process.present
		process.mu.Unlock()
		if ok(present) {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%s: %d%%", what, present)
		}
	}
}

// What the environment says counts.
func TestTheEnvironmentWins(t *testing.T) {
	t.Setenv("GOGC", "77")
	Follow()()
	if process.users != 0 {
		t.Error("it was followed")
	}
	end := Follow()
	defer end()
	if process.users != 0 {
		t.Error("it is followed")
	}
}
