package memory

import (
	"os"
	"runtime/debug"
)

// outside is the part of a budget, one in so many, that is left to what the Go runtime
// does not count: the memory of modules, files that are mapped.
const outside = 8

// LimitRuntime has the Go runtime collect garbage rather than take more than most of a
// budget, unless whoever started the process says otherwise by GOMEMLIMIT. This is the
// one place that sets it. It returns the limit that holds.
func LimitRuntime(budget int64) int64 {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(budget - budget/outside)
	}
	return debug.SetMemoryLimit(-1)
}
