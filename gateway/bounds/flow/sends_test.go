package flow

import (
	"testing"
	"testing/synctest"
	"time"
)

// Who only has to read its reply, and takes its time, keeps nobody waiting for long, and
// nobody at all who comes after that; what it gave is not given twice.
func TestSeatsOfRepliesThatAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, queues := range []int32{0, 8} {
			c := one(2, queues, 50)
			class := c.Classify(user("slow"))
			var slow, other, third Seat
			enter := func(s *Seat, seats int, after time.Duration) {
				t.Helper()
				began := time.Now()
				if err := c.Enter(t.Context(), s, class, Work{Seats: seats, Wait: time.Minute}); err != nil || time.Since(began) != after {
					t.Fatalf("%d queues: %v after %v, not %v", queues, err, time.Since(began), after)
				}
			}
			enter(&slow, 2, 0)
			if queues > 0 {
				go func() { <-time.After(time.Second); slow.Sends() }()
				enter(&other, 2, time.Second+sendTime)
			} else {
				slow.Sends()
				if err := c.Enter(t.Context(), &other, class, Work{Seats: 1}); err != NoSeats {
					t.Errorf("%v", err)
				}
				<-time.After(sendTime)
				enter(&other, 2, 0)
			}
			other.Sends()
			<-time.After(sendTime)
			enter(&third, 2, 0)
			slow.Leave()
			other.Leave()
			if l := c.levels["l"]; l.seats != 2 || l.executing != 1 {
				t.Errorf("%d queues: %d seats of %d requests are taken", queues, l.seats, l.executing)
			}
			third.Sends()
			third.Sends() // it is told twice
			third.Leave() // and read at once
			if l := c.levels["l"]; l.sending != 0 {
				t.Errorf("%d queues: %d send", queues, l.sending)
			}
			idle(t, c)
		}
	})
}

// Without a seat nothing is sent of.
func TestNoSeatIsSentOf(t *testing.T) {
	var s Seat
	s.Sends()
	s.Leave()
}
