package flow

import "time"

// sendTime is how long a reply that is sent keeps its seats from others who want them.
// Sending to who reads is over by then, or nearly; who reads slowly would else keep
// everybody's seats for as long as it likes, while nothing is worked at.
const sendTime = 100 * time.Millisecond

// Sends says that of a request only the reply is left to send. Its seats are given to
// others who want them, though not at once.
func (s *Seat) Sends() {
	l := s.level
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.sends.IsZero() {
		return
	}
	s.sends = time.Now()
	l.sending++
	if l.waiting > 0 {
		l.reclaimLater()
	}
}

// reclaim takes the seats of those whose replies have been sent for long enough; it is
// called after advance.
func (l *level) reclaim(now time.Time) {
	for s := l.first; s != nil && l.sending > 0; {
		next := s.after
		if !s.sends.IsZero() && now.Sub(s.sends) >= sendTime {
			l.ended(s, now)
			l.vacate(s, now)
			s.reclaimed = true
		}
		s = next
	}
}

// reclaimLater reclaims once those that send have had their time, for as long as
// somebody waits.
func (l *level) reclaimLater() {
	if l.reclaiming || l.sending == 0 {
		return
	}
	l.reclaiming = true
	time.AfterFunc(sendTime, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reclaiming = false
		now := time.Now()
		l.advance(now)
		l.reclaim(now)
		l.dispatch(now)
		if l.waiting > 0 {
			l.reclaimLater()
		}
	})
}
