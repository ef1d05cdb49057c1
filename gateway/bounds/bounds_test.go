package bounds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/gateway/bounds/memory"
)

// enter lets a user in n times and returns how often it did.
func enter(b *Bounds, user string, exempt bool, k Kind, n int) []*Stay {
	var in []*Stay
	for range n {
		var s Stay
		if b.Enter(&s, user, exempt, k) == nil {
			in = append(in, &s)
		}
	}
	return in
}

func leave(all ...[]*Stay) {
	for _, in := range all {
		for _, s := range in {
			s.Leave()
			s.Leave()
		}
	}
}

// One user has at most half, and all together no more than there is; who is
// exempt comes in even then, and counts.
func TestRequests(t *testing.T) {
	b := New(Limits{Reading: 10, Changing: 4})
	alice, bob, carol := enter(b, "alice", false, Reads, 20), enter(b, "bob", false, Reads, 3), enter(b, "carol", false, Reads, 20)
	if len(alice) != 5 || len(bob) != 3 || len(carol) != 2 {
		t.Errorf("%d, %d and %d reads, want 5, 3 and 2", len(alice), len(bob), len(carol))
	}
	root := enter(b, "root", true, Reads, 20)
	if len(root) != 20 {
		t.Errorf("%d reads of who is exempt", len(root))
	}
	if n := len(enter(b, "alice", false, Changes, 20)); n != 2 {
		t.Errorf("%d changes, want 2", n)
	}
	leave(alice)
	if n := len(enter(b, "dave", false, Reads, 20)); n != 0 {
		t.Errorf("%d reads beside those who are exempt", n)
	}
	leave(root)
	if n := len(enter(b, "dave", false, Reads, 20)); n != 5 {
		t.Errorf("%d reads where others have left", n)
	}
}

func TestNoLimits(t *testing.T) {
	b := New(Limits{})
	for k := range kinds {
		in := enter(b, "alice", false, k, 1000)
		if len(in) != 1000 || !in[0].Take(1<<40) {
			t.Errorf("%d of kind %d", len(in), k)
		}
		leave(in)
	}
	var outside Stay
	if !outside.Take(1 << 40) {
		t.Error("who is bounded by nothing is refused")
	}
	outside.Leave()
}

// Watches are bounded for each user, and take nothing from requests; who is exempt
// may have any number: all components of a cluster may be one user.
func TestWatches(t *testing.T) {
	b := New(Limits{Reading: 2, Changing: 2, Watches: 3})
	for _, user := range []string{"alice", "bob"} {
		in := enter(b, user, false, Lasts, 10)
		if len(in) != 3 {
			t.Errorf("%d watches", len(in))
		}
		beside := enter(b, user, false, Reads, 10)
		if len(beside) != 1 {
			t.Errorf("%d requests beside them", len(beside))
		}
		in[0].Leave()
		if n := len(enter(b, user, false, Lasts, 10)); n != 1 {
			t.Errorf("%d watches after one", n)
		}
		leave(beside)
	}
	if n := len(enter(b, "root", true, Lasts, 10)); n != 10 {
		t.Errorf("%d watches of who is exempt", n)
	}
}

// However many bytes one user takes, there are as many left for others, and what
// is given back can be taken again.
func TestBytes(t *testing.T) {
	b := New(Limits{Bytes: 1 << 20})
	take := func(user string, exempt bool) (s *Stay, n int) {
		s = &Stay{}
		if b.Enter(s, user, exempt, Changes) != nil {
			t.Fatal("not let in")
		}
		for s.Take(1 << 10) {
			n++
		}
		return s, n
	}
	alice, n := take("alice", false)
	if n != 512 {
		t.Errorf("alice took %d KiB of 1024", n)
	}
	again, n := take("alice", false)
	if n != 0 {
		t.Errorf("and %d with another request", n)
	}
	bob, n := take("bob", false)
	if n != 256 {
		t.Errorf("bob took %d KiB of the other half", n)
	}
	root, n := take("root", true)
	if n != 256 {
		t.Errorf("who is exempt took %d KiB of the last quarter", n)
	}
	if got := b.Bytes(); got != 1<<20 {
		t.Errorf("%d bytes are taken", got)
	}
	leave([]*Stay{alice, again, bob, root})
	if b.Bytes() != 0 || len(b.users) != 0 {
		t.Errorf("%d bytes, %d users are left", b.Bytes(), len(b.users))
	}
	if _, n = take("carol", false); n != 512 {
		t.Errorf("carol took %d KiB", n)
	}
}

// What takes much leaves room for what takes little, also of the same user when
// that one is exempt.
func TestBytes_SomeAreKeptForSmallRequests(t *testing.T) {
	const limit = 1 << 20
	for _, exempt := range []bool{false, true} {
		b := New(Limits{Bytes: limit})
		var large, larger, other, little Stay
		for _, s := range []*Stay{&large, &larger} {
			b.Enter(s, "alice", exempt, Changes)
		}
		b.Enter(&other, "bob", exempt, Changes)
		b.Enter(&little, "bob", false, Changes)
		if n := large.Most(); !large.Take(n) || large.Take(n) && !exempt || larger.Take(n/2+limit/8) {
			t.Errorf("exempt %v: more or less than %d bytes at once", exempt, n)
		}
		for other.Take(limit / 16) {
		}
		if b.Bytes() > limit*3/4 || !little.Take(limit/64) {
			t.Errorf("exempt %v: %d bytes are taken", exempt, b.Bytes())
		}
	}
}

func TestNobodyIsForgotten(t *testing.T) {
	b := New(Limits{Reading: 6, Changing: 6, Watches: 3, Bytes: 1000})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 1000 {
				var s Stay
				if b.Enter(&s, fmt.Sprint("user", i%3), i == 0, Kind(n%int(kinds))) == nil {
					s.Take(n)
				}
				s.Leave()
			}
		})
	}
	all.Wait()
	if len(b.users) != 0 || b.bytes != 0 || b.all != [kinds]int{} {
		t.Errorf("left: %v, %d bytes, %v", b.users, b.bytes, b.all)
	}
}

func BenchmarkRequest(b *testing.B) {
	all := New(Limits{Reading: 400, Changing: 200, Bytes: 1 << 30})
	b.ReportAllocs()
	for b.Loop() {
		var s Stay
		all.Enter(&s, "system:serviceaccount:default:controller", false, Reads)
		s.Leave()
	}
}

// What lists and watches take of the memory comes back when they end, and who finds
// none is not counted.
func TestMemoryOfListsAndWatches(t *testing.T) {
	m := memory.New(1 << 20) // 384 KiB for each
	b := New(Limits{Watches: 100, Lists: m.For(memory.Lists), Watching: m.For(memory.Watches), Decoding: m.For(memory.Decoding)})
	watches := enter(b, "bob", false, Lasts, 20)
	if len(watches) != 8 {
		t.Errorf("%d watches", len(watches))
	}
	var s Stay
	if err := b.Enter(&s, "root", true, Lasts); err != NoMemory {
		t.Errorf("got %v", err)
	}
	leave(watches)
	synctest.Test(t, func(t *testing.T) {
		var one, other Stay
		for _, s := range []*Stay{&one, &other} {
			if err := b.Enter(s, "bob", false, Reads); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(one.List(t.Context(), 100<<10), one.List(t.Context(), 100<<10), one.List(t.Context(), 0)); err != nil {
			t.Error(err)
		}
		if err := other.List(t.Context(), 150<<10); err != NoMemory {
			t.Errorf("got %v", err)
		}
		go func() {
			<-time.After(time.Second)
			one.Leave()
			one.Leave()
		}()
		if err := other.List(t.Context(), 150<<10); err != nil {
			t.Error(err)
		}
		if !other.Take(1<<10) || other.Take(1<<20) {
			t.Error("more or less is decoded than there is room for")
		}
		other.Leave()
	})
	if used, _, _ := m.Uses(); len(b.users) != 0 || slices.Max(used[:]) != 0 {
		t.Errorf("left: %v, %v", b.users, used)
	}
}

// A reply takes what is missing of its bytes, and one that there is counts even where
// nothing is left.
func TestReplies(t *testing.T) {
	m := memory.New(1 << 20) // 384 KiB for lists
	b := New(Limits{Lists: m.For(memory.Lists)})
	used := func() int { n, _, _ := m.Uses(); return int(n[memory.Lists]) }
	s := enter(b, "ann", false, Changes, 1)[0]
	for _, n := range []int{100 << 10, 50 << 10, 100 << 10} {
		if err := s.Reply(t.Context(), n); err != nil || used() != 100<<10+perList {
			t.Errorf("%d: %d bytes are taken, %v", n, used(), err)
		}
	}
	s.Replied(1)
	if used() != 100<<10+perList {
		t.Errorf("%d bytes are taken", used())
	}
	s.Replied(500 << 10)
	if used() != 500<<10 {
		t.Errorf("%d bytes are taken by what is there", used())
	}
	other := enter(b, "bob", false, Changes, 1)[0]
	gone, end := context.WithCancel(t.Context())
	end() // it does not wait
	if err := other.Reply(gone, 1); err != NoMemory {
		t.Errorf("beside it: %v", err)
	}
	leave([]*Stay{s, other})
	if used() != 0 {
		t.Errorf("%d bytes are taken by nobody", used())
	}
	new(Stay).Replied(1) // who is bounded by nothing
}
