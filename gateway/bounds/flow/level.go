package flow

import (
	"math"
	"sync"
	"time"

	fcv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/util/shufflesharding"
)

// level is the seats of a PriorityLevelConfiguration, and the queues of those who wait
// for one.
type level struct {
	name string

	mu     sync.Mutex
	id     types.UID
	exempt bool
	// limit is how many seats there are now; nominal, min and max are what is
	// configured.
	limit, nominal, min, max int
	dealer                   *shufflesharding.Dealer // nil where nobody waits
	queueLength, handSize    int
	// queues may be more than the dealer knows while those beyond still have somebody.
	queues []*queue

	active             int   // queues that are not idle
	executing, waiting int   // requests
	seats, wanted      int   // of those
	first              *Seat // of those that execute
	sending            int   // those of them of which only the reply is left
	reclaiming         bool  // their seats will be looked at
	tallies            map[string]*tally
	clock              progress
	demand             demand
	target             float64 // seats that it should have
}

func newLevel(name string) *level {
	return &level{name: name, tallies: map[string]*tally{}, clock: progress{at: time.Now()}, demand: demand{at: time.Now()}}
}

// configure makes l what an object says, of which so many seats are its own and there
// are so many in all.
func (l *level) configure(o *fcv1.PriorityLevelConfiguration, nominal, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lent := part(nominal, lendable(o))
	fresh := l.limit == 0 && l.nominal == 0
	l.id, l.exempt = o.UID, o.Spec.Type == fcv1.PriorityLevelEnablementExempt
	l.nominal, l.min, l.max = nominal, nominal-lent, total
	if percent, bounded := borrowable(o); bounded {
		l.max = nominal + part(nominal, percent)
	}
	if fresh {
		l.limit = nominal - lent/2
	}
	l.dealer, l.handSize = nil, 1
	if o.Spec.Limited != nil && o.Spec.Limited.LimitResponse.Queuing != nil {
		q := o.Spec.Limited.LimitResponse.Queuing
		l.queueLength, l.handSize = int(q.QueueLengthLimit), int(q.HandSize)
		l.dealer = dealer(int(q.Queues), l.handSize)
		for len(l.queues) < int(q.Queues) {
			l.queues = append(l.queues, &queue{})
		}
	}
	l.dispatch(time.Now())
}

// dealer deals hands of queues; where there are more ways to do so than a hash has bits,
// smaller ones.
func dealer(queues, hand int) *shufflesharding.Dealer {
	for ; hand > 1; hand-- {
		if d, err := shufflesharding.NewDealer(queues, hand); err == nil {
			return d
		}
	}
	d, err := shufflesharding.NewDealer(queues, 1)
	if err != nil { // there are none
		return nil
	}
	return d
}

func (l *level) uid() types.UID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

func (l *level) nominalSeats() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.nominal
}

func (l *level) leastSeats() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.min
}

// maxSeats is the most seats that one request should have.
func (l *level) maxSeats() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.exempt { // nobody waits for it
		return math.MaxInt
	}
	return max(1, min(int(math.Ceil(0.15*float64(l.nominal))), l.nominal/max(l.handSize, 1)))
}

func (l *level) setLimit(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.advance(now)
	l.limit = n
	l.dispatch(now)
}

func (l *level) setTarget(n float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = n
}

// fits tells whether a request may begin. One that needs more than there is begins when
// it is alone.
func (l *level) fits(seats int) bool {
	return l.exempt || l.seats+seats <= l.limit || l.seats == 0 && l.limit > 0
}

// advance accounts for the time since it was last called, which everything that changes
// how many seats are taken or wanted does first.
func (l *level) advance(now time.Time) {
	l.clock.advance(now, min(l.seats+l.wanted, l.limit), l.active)
	l.demand.advance(now, l.seats+l.wanted)
}

// choose is the queue of a hand in which least is going on; nil where nobody waits.
func (l *level) choose(of flowID) (best *queue) {
	if l.dealer == nil {
		return nil
	}
	var hand [15]int
	for _, i := range l.dealer.DealIntoHand(of.hash(), hand[:0]) {
		if q := l.queues[i]; best == nil || q.work() < best.work() {
			best = q
		}
	}
	return best
}

// dispatch lets those begin who may: always who would be ready first if all queues
// were served at once. Who does not fit holds up the others, as it would else wait for
// ever.
func (l *level) dispatch(now time.Time) {
	for l.waiting > 0 {
		var next *queue
		for _, q := range l.queues {
			if len(q.waiting) > 0 && (next == nil || q.finish() < next.finish()) {
				next = q
			}
		}
		first := next.waiting[0]
		if !l.fits(first.seats) {
			return
		}
		next.remove(0)
		l.waiting--
		l.wanted -= first.seats
		first.tally.queue(first, -1)
		l.begin(first, now)
		close(first.turn)
	}
}

// begin has a request take its seats.
func (l *level) begin(s *Seat, now time.Time) {
	l.executing++
	l.seats += s.seats
	l.demand.reach(l.seats + l.wanted)
	s.began = now
	s.tally.begin(s)
	l.link(s)
	if q := s.queue; q != nil {
		q.executing++
		q.seats += s.seats
		q.next += guess.Seconds() * float64(s.seats)
	}
}
