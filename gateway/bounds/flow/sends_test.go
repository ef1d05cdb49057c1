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

// A request that has no seat, as one that is exempt, or has left, takes none by sending.
func TestNoSeatIsSentOf(t *testing.T) {
	c := one(2, 0, 0)
	var never, left Seat
	if err := c.Enter(t.Context(), &left, c.Classify(user("bob")), Work{Seats: 1}); err != nil {
		t.Fatal(err)
	}
	left.Leave()
	for name, s := range map[string]*Seat{"never": &never, "left": &left} {
		s.Sends()
		if s.level != nil || !s.sends.IsZero() {
			t.Errorf("%s: it has a seat at %v since %v", name, s.level, s.sends)
		}
	}
	if l := c.levels["l"]; l.sending != 0 {
		t.Errorf("%d send", l.sending)
	}
	idle(t, c)
}

// Seats that are taken back go to who waits before anybody new is refused for want of a
// place to wait.
func TestWhoWaitsGetsReclaimedSeatsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := one(2, 1, 1)
		class := c.Classify(user("bob"))
		enter := func(s *Seat) {
			if err := c.Enter(t.Context(), s, class, Work{Seats: 1, Wait: time.Minute}); err != nil {
				t.Errorf("it is refused: %v", err)
			}
		}
		var a, b, first, second, third Seat
		enter(&a)
		enter(&b)
		go enter(&first)
		<-time.After(sendTime / 10)
		a.Sends() // its seat goes to the first when its time is over
		<-time.After(sendTime / 2)
		b.Sends()
		<-time.After(sendTime * 6 / 10) // longer than a has left, and less than b has
		go enter(&second)               // fills the queue, and looks again when b's time is long over
		synctest.Wait()
		if l := c.levels["l"]; l.waiting != 1 || l.executing != 2 {
			t.Fatalf("%d wait, %d execute", l.waiting, l.executing)
		}
		<-time.After(sendTime / 2) // b's time is over
		go enter(&third)
		synctest.Wait()
		if l := c.levels["l"]; l.waiting != 1 || second.began.IsZero() {
			t.Errorf("%d wait, the second began at %v", l.waiting, second.began)
		}
		first.Leave()
		synctest.Wait()
		for _, s := range []*Seat{&a, &b, &second, &third} {
			s.Leave()
		}
		idle(t, c)
	})
}
