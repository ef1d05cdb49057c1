package flow

import (
	"math"

	fcv1 "k8s.io/api/flowcontrol/v1"
)

// smoothing is how much of what a level needed before counts against what it needs now.
const smoothing = 0.977

// share is what a level claims of the seats of all.
type share struct {
	level         *level
	least, most   float64
	target, given float64
}

// Lend gives each level as many seats as it needed lately and may have; what is
// over is shared in proportion. It is the algorithm of KEP-1040 ("Fair queuing
// between priority levels").
func (c *Control) Lend() {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.lend()
}

func (c *Control) lend() {
	var limited []share
	total, least, atLeast := 0, 0, 0.0
	for _, l := range c.levels {
		total += l.nominalSeats()
	}
	for _, l := range c.levels {
		need := l.needed()
		if need.exempt { // takes what it takes
			l.setLimit(max(need.min, need.highest))
			l.setTarget(float64(max(need.min, need.highest)))
			total -= max(need.min, need.highest)
			continue
		}
		s := share{level: l, most: float64(need.max)}
		s.least = float64(max(need.min, min(need.nominal, need.highest)))
		s.target = math.Max(s.least, need.smoothed)
		least += need.min
		atLeast += s.least
		l.setTarget(s.target)
		limited = append(limited, s)
	}
	switch {
	case total <= least:
		c.fair = 0
		for _, s := range limited {
			s.level.setLimit(s.level.leastSeats())
		}
	case float64(total) <= atLeast:
		c.fair = 0
		part := float64(total-least) / (atLeast - float64(least))
		for _, s := range limited {
			m := s.level.leastSeats()
			s.level.setLimit(m + int(math.Round((s.least-float64(m))*part)))
		}
	default:
		c.fair = divide(limited, float64(total))
		for _, s := range limited {
			s.level.setLimit(int(math.Round(s.given)))
		}
	}
}

// divide gives each the same multiple of its target, though never less than its least
// nor more than its most, so that the sum is total, if it can be.
// It returns that multiple.
func divide(shares []share, total float64) (fair float64) {
	give := func(fraction float64) (sum float64) {
		for i := range shares {
			s := &shares[i]
			s.given = min(s.most, max(s.least, fraction*max(s.target, 1e-3)))
			sum += s.given
		}
		return sum
	}
	low, high := 0.0, 1.0
	for range 60 {
		if give(high) >= total {
			break
		}
		low, high = high, 2*high
	}
	for range 60 {
		if middle := (low + high) / 2; give(middle) < total {
			low = middle
		} else {
			high = middle
		}
	}
	give(low)
	return low
}

// sharesOf is what a level is worth among others.
func sharesOf(l *fcv1.PriorityLevelConfiguration) int32 {
	switch {
	case l.Spec.Limited != nil && l.Spec.Limited.NominalConcurrencyShares != nil:
		return *l.Spec.Limited.NominalConcurrencyShares
	case l.Spec.Limited != nil:
		return 30
	case l.Spec.Exempt != nil && l.Spec.Exempt.NominalConcurrencyShares != nil:
		return *l.Spec.Exempt.NominalConcurrencyShares
	}
	return 0
}

// lendable and borrowable are the percentages that a level lends and may borrow.
func lendable(l *fcv1.PriorityLevelConfiguration) int32 {
	var p *int32
	switch {
	case l.Spec.Limited != nil:
		p = l.Spec.Limited.LendablePercent
	case l.Spec.Exempt != nil:
		p = l.Spec.Exempt.LendablePercent
	}
	if p == nil {
		return 0
	}
	return *p
}

func borrowable(l *fcv1.PriorityLevelConfiguration) (percent int32, bounded bool) {
	if l.Spec.Limited == nil || l.Spec.Limited.BorrowingLimitPercent == nil {
		return 0, false
	}
	return *l.Spec.Limited.BorrowingLimitPercent, true
}

// part is a percentage of seats.
func part(seats int, percent int32) int {
	return int(math.Round(float64(seats) * float64(percent) / 100))
}
