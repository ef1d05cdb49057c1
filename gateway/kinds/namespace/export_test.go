package namespace

import (
	"testing"
	"time"
)

// HurryStragglers lets the checks for stragglers come soon, until the test
// ends.
func HurryStragglers(t *testing.T) {
	old := stragglerChecks
	stragglerChecks = []time.Duration{time.Millisecond, 10 * time.Millisecond}
	t.Cleanup(func() { stragglerChecks = old })
}
