package transport

import "testing"

// A connection that has ended, or is a stream by now, is remembered no longer;
// one that never was among them may leave, too.
func TestConnectionsAreForgotten(t *testing.T) {
	s := &connections{}
	one, other := &conn{among: s}, &conn{among: s}
	s.add(one)
	s.add(other)
	one.leave()
	if _, still := s.all[other]; len(s.all) != 1 || !still {
		t.Errorf("%d connections are remembered of one that is there", len(s.all))
	}
	one.leave() // at its end, after it became a stream
	other.leave()
	(&conn{}).leave()
	if len(s.all) != 0 {
		t.Errorf("%d connections are remembered", len(s.all))
	}
}
