package memory

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// holding is a budget of a process that holds so much for other reasons.
func holding(total, live int64) *Budget {
	b := New(total)
	b.collected(live)
	return b
}

// collected has the next collection of garbage leave so much.
func (b *Budget) collected(live int64) {
	next := b.looked + 1
	b.live = func() (int64, uint64) { return live, next }
	b.Look()
}

// No purpose has more than half of what there is, all together no more than that, and
// what is given back can be taken again.
func TestPurposesShareTheBudget(t *testing.T) {
	b := holding(1600, 200) // a quarter is kept: 1000 are left
	lists, bodies, modules := b.For(Lists), b.For(Bodies), b.For(Modules)
	if lists.Take(501) || !lists.Take(500) || lists.Take(1) {
		t.Error("lists have more or less than half")
	}
	if !bodies.Take(400) || bodies.Take(101) || !modules.Take(100) || b.For(Watches).Take(1) {
		t.Error("all together have more or less than there is")
	}
	lists.Give(500)
	if !bodies.Take(100) || bodies.Take(1) || bodies.Most() != 600 {
		t.Errorf("bodies have more or less than half, %d at most", bodies.Most())
	}
	if used, rest, room := b.Uses(); used != [purposes]int64{500, 0, 0, 0, 100} || rest != 200 || room != 1000 {
		t.Errorf("%v %d %d", used, rest, room)
	}
	bodies.Give(500)
	modules.Give(100)
	if used, _, _ := b.Uses(); used != [purposes]int64{} {
		t.Errorf("left: %v", used)
	}
	var none *Budget
	if a := none.For(Lists); !a.Take(1<<40) || a.Most() < 1<<40 {
		t.Error("who has no budget is refused")
	} else {
		a.Give(1 << 40)
	}
}

// What the process holds anyway leaves less, and always something. What was taken is not
// counted twice, and that of modules is not what the runtime knows of.
func TestWhatIsHeldLeavesLess(t *testing.T) {
	b := holding(1600, 0)
	if !b.For(Lists).Take(300) || !b.For(Modules).Take(300) {
		t.Fatal("there is not as much as there is")
	}
	b.collected(700) // and the 300 before this look
	if _, rest, room := b.Uses(); rest != 700 || room != 500 {
		t.Errorf("at first %d for other reasons, room for %d", rest, room)
	}
	for live, want := range map[int64][2]int64{100: {0, 1200}, 500: {200, 1000}, 5000: {4700, 100}} {
		b.collected(live)
		b.Look() // says nothing new
		if _, rest, room := b.Uses(); rest != want[0] || room != want[1] {
			t.Errorf("%d are live: %d for other reasons, room for %d, want %v", live, rest, room, want)
		}
	}
	runtime.GC()
	if live, collection := New(1 << 30).live(); live <= 0 || collection == 0 {
		t.Error("nothing is live")
	}
}

// Who waits gets what is given back, or nothing when time is over.
func TestWhoWaitsIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := holding(1600, 0)
		a := b.For(Lists)
		if !a.Take(600) {
			t.Fatal("there is nothing")
		}
		began := time.Now()
		if a.Wait(t.Context(), 1, time.Second) || time.Since(began) != time.Second {
			t.Errorf("served, or not after %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if a.Wait(ctx, 1, time.Second) {
			t.Error("served who has left")
		}
		var all sync.WaitGroup
		served := 0
		var mu sync.Mutex
		for range 6 {
			all.Go(func() {
				if a.Wait(t.Context(), 200, time.Minute) {
					mu.Lock()
					served++
					mu.Unlock()
				}
			})
		}
		synctest.Wait()
		a.Give(600)
		synctest.Wait()
		if served != 3 {
			t.Errorf("%d were served", served)
		}
		a.Give(400)
		a.Give(200)
		all.Wait()
		if used, _, _ := b.Uses(); served != 6 || used[Lists] != 600 {
			t.Errorf("%d were served, %d are taken", served, used[Lists])
		}
	})
}

// What is there counts even where there is no room for it, and leaves none to others.
func TestWhatIsOwed(t *testing.T) {
	b := holding(1600, 200)
	lists := b.For(Lists)
	lists.Owe(700)
	if used, _, _ := b.Uses(); used[Lists] != 700 || lists.Take(1) || b.For(Bodies).Take(301) || !b.For(Bodies).Take(300) {
		t.Errorf("%v", used)
	}
	lists.Give(700)
	if !lists.Take(500) {
		t.Error("it is not given back")
	}
	var none *Budget
	none.For(Lists).Owe(1)
}
