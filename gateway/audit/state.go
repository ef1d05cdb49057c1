package audit

import (
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// remembered is how long a loss is told after it happened.
const remembered = time.Minute

// state is how well a sink does.
type state struct {
	log zerolog.Logger

	mu sync.Mutex
	// failing: the last time that something was sent it failed. why and at are of the
	// last loss.
	failing bool
	why     error
	at      time.Time
}

// failed notes a loss.
func (s *state) failed(now time.Time, why error) {
	s.mu.Lock()
	s.failing, s.why, s.at = true, why, now
	s.mu.Unlock()
	s.log.Error().Err(why).Msg("audit events are lost")
}

// passed notes that something was sent.
func (s *state) passed() {
	s.mu.Lock()
	s.failing = false
	s.mu.Unlock()
}

// check tells of a loss while it lasts, and for a while after.
func (s *state) check(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why == nil || !s.failing && now.Sub(s.at) > remembered {
		return nil
	}
	return fmt.Errorf("audit events are lost: %w", s.why)
}
