package flow

import (
	"sync"
	"testing"
	"time"
)

// A list has a seat for each 100 kB, and no more than its level lets one request have.
func TestListsAreWeighedBySize(t *testing.T) {
	c := New(600)
	c.Update(allSchemas, allLevels)
	for bytes, want := range map[int64]int{0: 1, 100_000: 1, 100_001: 2, 450_000: 5, 1 << 40: 8} {
		w := Work{Seats: 1}
		if c.List(&w, c.Classify(user("bob")), bytes); w.Seats != want {
			t.Errorf("%d bytes: %d seats, want %d", bytes, w.Seats, want)
		}
	}
	w := Work{Seats: 1}
	if c.List(&w, c.Classify(user("admin", "system:masters")), 1<<40); w.Seats != 10 {
		t.Errorf("%d seats of who is exempt", w.Seats)
	}
	few := one(2, 8, 50)
	if few.List(&w, few.Classify(user("bob")), 1<<40); w.Seats != 1 {
		t.Errorf("%d seats where there are two", w.Seats)
	}
}

// What a write costs is as much whether it has many seats, or fewer for longer.
func TestWritesAreWeighedByWatches(t *testing.T) {
	c := New(600)
	c.Update(allSchemas, allLevels)
	class := c.Classify(user("bob"))
	for watches, want := range map[int]Work{
		0: {Seats: 1}, 9: {Seats: 1}, 10: {Seats: 1, After: 5 * time.Millisecond}, 25: {Seats: 3, After: 5 * time.Millisecond},
		1000: {Seats: 8, After: 62500 * time.Microsecond},
	} {
		w := Work{Seats: 1}
		if c.Write(&w, class, watches); w.Seats != want.Seats || w.After != want.After {
			t.Errorf("%d watches: %+v, want %+v", watches, w, want)
		}
	}
}

// A write is told to the watches of its kind, its namespace and its name, and to none
// that has ended.
func TestWatchesAreCounted(t *testing.T) {
	c := New(600)
	about := func(namespace, name string) (w Watching) {
		a := user("bob")
		a.Namespace, a.Name = namespace, name
		c.Watch(&w, a)
		return w
	}
	all := []Watching{about("", ""), about("default", ""), about("default", "one"), about("default", "two"), about("other", "")}
	a := user("bob")
	if n := c.Watches(a); n != 3 {
		t.Errorf("an update is told to %d", n)
	}
	a.Name = ""
	if n := c.Watches(a); n != 2 {
		t.Errorf("a create is told to %d", n)
	}
	a.Resource = "secrets"
	if n := c.Watches(a); n != 0 {
		t.Errorf("a secret is told to %d", n)
	}
	var ending sync.WaitGroup
	for i := range all {
		ending.Go(func() {
			all[i].End()
			all[i].End()
		})
	}
	ending.Wait()
	if len(c.watches.all) != 0 {
		t.Errorf("left: %v", c.watches.all)
	}
}

// One that needs more seats than there are begins when it is alone, and none where a level
// has no seat at all.
func TestWhatFitsALevel(t *testing.T) {
	for _, c := range []struct {
		limit, taken, seats int
		exempt, want        bool
	}{
		{limit: 2, seats: 2, want: true},
		{limit: 2, seats: 3, want: true},
		{limit: 2, taken: 1, seats: 1, want: true},
		{limit: 2, taken: 1, seats: 2},
		{limit: 2, taken: 2, seats: 1},
		{seats: 1},
		{taken: 5, seats: 1, exempt: true, want: true},
	} {
		l := newLevel("a")
		l.limit, l.seats, l.exempt = c.limit, c.taken, c.exempt
		if got := l.fits(c.seats); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
