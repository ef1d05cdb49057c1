package controller

import (
	"testing"
	"time"
)

// Hurry lets the controller save, look at its controls and retry often.
func (m *Migration) Hurry() {
	m.saveEvery, m.controlsEvery, m.retryAfter = time.Nanosecond, time.Millisecond, time.Millisecond
}

// HurryStragglers lets the checks for stragglers come soon, until the test
// ends.
func HurryStragglers(t *testing.T) {
	old := stragglerChecks
	stragglerChecks = []time.Duration{time.Millisecond, 10 * time.Millisecond}
	t.Cleanup(func() { stragglerChecks = old })
}

// ParseLimits is parseLimits.
var ParseLimits = parseLimits
