package pool

import (
	"context"
	"time"
)

// Allowance is how many members may be discarded before their successors are made
// later. The zero value is for any number.
type Allowance struct {
	// PerSecond is how many in a second, on the average, and Burst at once.
	PerSecond float64
	Burst     int
	// PerUse is how many more for each use that ended well: who fails now and then
	// among many uses is not held up.
	PerUse float64
}

// account is what is left of an allowance; below zero the next member is made when
// time has brought it back. What is made for the first time, or because of age or
// want of room, counts for nothing. The lock of the shelf guards it.
type account struct {
	left float64
	at   time.Time // when left was that
	held int64     // how many had to wait
}

// add books discards (below zero) and uses, and what time has brought since.
func (a *account) add(n float64, of Allowance, now time.Time) {
	a.left = min(a.left+now.Sub(a.at).Seconds()*of.PerSecond+n, float64(of.Burst))
	a.at = now
}

// pace returns when a member may be made. The error is that of ctx, or ErrDrained.
func (p *Pool[T]) pace(ctx context.Context) error {
	of := p.cfg.Discards
	if of.PerSecond <= 0 {
		return nil
	}
	p.shelf.mu.Lock()
	p.account.add(0, of, time.Now())
	wait := time.Duration(-p.account.left / of.PerSecond * float64(time.Second))
	if wait > 0 {
		p.account.held++
	}
	p.shelf.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	later := time.NewTimer(wait)
	defer later.Stop()
	select {
	case <-later.C:
		return nil
	case <-p.draining:
		return ErrDrained
	case <-ctx.Done():
		return ctx.Err()
	}
}
