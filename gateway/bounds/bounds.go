// Package bounds owns how much may be under way at a time, for one user and for
// all together: connections, requests, watches, and bytes of memory for what they send.
//
// Of what is shared nobody gets all: one user has at most half of the requests,
// and at most as many bytes as are left for the others; a part of them is for
// requests that take little. It must not know what a request is about, nor how one
// is refused.
package bounds

import (
	"context"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/gateway/bounds/memory"
)

// Limits are the bounds; 0 means none.
type Limits struct {
	// Reading and Changing are how many requests of all users may be under way
	// that only read, and that change something.
	Reading, Changing int
	// Watches is how many watches, and other requests without a foreseeable end,
	// one user may have who is not exempt.
	Watches int
	// Bytes is how much memory what is made of the bodies of all requests may take
	// together.
	Bytes int64
	// Decoding, Lists and Watching are where the memory comes from for what is made of
	// bodies, for replies that are sent, and for what lasts.
	Decoding, Lists, Watching memory.Account
}

// What a reply and what lasts take at least: buffers and stacks.
const (
	perList  = 32 << 10
	perWatch = 48 << 10
)

// Kind is what a request takes up.
type Kind int

// The kinds of requests.
const (
	// Reads is a request that changes nothing.
	Reads Kind = iota
	// Changes is a request that changes something.
	Changes
	// Lasts is a watch, or another request without a foreseeable end.
	Lasts
	kinds
)

// Bounds counts what is under way. It is safe for concurrent use.
type Bounds struct {
	limits Limits

	mu    sync.Mutex
	all   [kinds]int
	bytes int64
	users map[string]*account
}

// account is what one user has under way.
type account struct {
	of    [kinds]int
	bytes int64
}

// New makes Bounds with nothing under way.
func New(l Limits) *Bounds { return &Bounds{limits: l, users: map[string]*account{}} }

// Stay is what one request has taken. Its zero value has taken nothing and is
// bounded by nothing. It must not be copied once it was used, and is used by one
// goroutine at a time.
type Stay struct {
	of      *Bounds
	user    string
	account *account
	kind    Kind
	exempt  bool
	bytes   int64
	// listed and watching are what it took of the memory for lists and watches, begins
	// what of the latter is for what a watch begins with.
	listed, watching, begins int
}

// Full is why a request is not let in, or has no memory.
type Full string

// Error implements error.
func (f Full) Error() string { return string(f) }

// The reasons.
const (
	// TooMany requests are under way.
	TooMany Full = "too many requests are under way, please try again later"
	// TooManyWatches are one user's.
	TooManyWatches Full = "this user has as many watches as one may have: end some, or have the operator set --max-watches-per-user"
	// TooManyConnections are one user's.
	TooManyConnections Full = "this user has as many connections open as one may have: close some, or have the operator set --max-connections-per-user"
	// NoMemory is left for what is asked for.
	NoMemory Full = "other requests take all the memory there is for this, please try again later"
)

// Enter lets a request of a user in, unless there are too many; s then counts
// until [Stay.Leave]. Who is exempt is counted and let in even so.
func (b *Bounds) Enter(s *Stay, user string, exempt bool, k Kind) error {
	watching := 0
	if k == Lasts {
		if watching = perWatch; !b.limits.Watching.Take(watching) {
			return NoMemory
		}
	}
	if b.enter(s, user, exempt, k) {
		s.watching = watching
		return nil
	}
	b.limits.Watching.Give(watching)
	if k == Lasts {
		return TooManyWatches
	}
	return TooMany
}

func (b *Bounds) enter(s *Stay, user string, exempt bool, k Kind) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.users[user]
	if a == nil {
		a = &account{}
	}
	if !b.room(a, exempt, k) {
		return false
	}
	b.users[user] = a
	a.of[k]++
	b.all[k]++
	*s = Stay{of: b, user: user, account: a, kind: k, exempt: exempt}
	return true
}

// room reports whether there is room for one more request.
func (b *Bounds) room(a *account, exempt bool, k Kind) bool {
	limit := [kinds]int{b.limits.Reading, b.limits.Changing, b.limits.Watches}[k]
	switch {
	case limit == 0 || exempt:
		return true
	case k == Lasts:
		return a.of[k] < limit
	}
	return b.all[k] < limit && a.of[k] < (limit+1)/2
}

// A part of the bytes, one in so many, is kept for those who take little at a
// time, no more than one in so many.
const kept, small = 4, 64

// Take reserves n more bytes until [Stay.Leave], or none if there are not so
// many. Who is exempt may have all that are left.
func (s *Stay) Take(n int) bool {
	b := s.of
	if b == nil {
		return true
	}
	if !b.limits.Decoding.Take(n) {
		return false
	}
	if s.take(int64(n)) {
		return true
	}
	b.limits.Decoding.Give(n)
	return false
}

func (s *Stay) take(n int64) bool {
	b := s.of
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limits.Bytes == 0 {
		s.account.bytes += n
		b.bytes += n
		s.bytes += n
		return true
	}
	left := b.limits.Bytes - b.bytes
	if n > b.limits.Bytes/small {
		left -= b.limits.Bytes / kept
	}
	if n > left || !s.exempt && s.account.bytes+n > left {
		return false
	}
	b.bytes += n
	s.account.bytes += n
	s.bytes += n
	return true
}

// mostWait is how long a list waits for memory.
const mostWait = 5 * time.Second

// List reserves n more bytes for the reply to a list until [Stay.Leave]; it waits for
// them, though not long. Of an empty one something is kept, too.
func (s *Stay) List(ctx context.Context, n int) error {
	if s.of == nil {
		return nil
	}
	if s.listed == 0 {
		n += perList
	}
	if !s.of.limits.Lists.Wait(ctx, n, mostWait) {
		return NoMemory
	}
	s.listed += n
	return nil
}

// Reply reserves what is missing of n bytes for a reply that is to come, as List does.
func (s *Stay) Reply(ctx context.Context, n int) error {
	if n <= s.listed {
		return nil
	}
	return s.List(ctx, n-s.listed)
}

// Replied counts what is missing of n bytes for a reply that there is, and that is sent
// even if nothing is left for it: what it tells of has happened.
func (s *Stay) Replied(n int) {
	if s.of == nil || n <= s.listed {
		return
	}
	s.of.limits.Lists.Owe(n - s.listed)
	s.listed = n
}

// Begin reserves n more bytes for what a watch begins with, until that was sent.
func (s *Stay) Begin(n int) error {
	if s.of == nil || n == 0 {
		return nil
	}
	if !s.of.limits.Watching.Take(n) {
		return NoMemory
	}
	s.begins = n
	s.watching += n
	return nil
}

// Begun gives back what Begin took. It may be called more than once.
func (s *Stay) Begun() {
	if s.begins > 0 {
		s.of.limits.Watching.Give(s.begins)
		s.watching -= s.begins
		s.begins = 0
	}
}

// Most is the most bytes that can be taken at once when nothing else is under
// way; 0 for any number.
func (s *Stay) Most() int {
	if s.of == nil || s.of.limits.Bytes == 0 {
		return 0
	}
	return int((s.of.limits.Bytes - s.of.limits.Bytes/kept) / 2)
}

// Leave gives back what s has taken. It may be called more than once.
func (s *Stay) Leave() {
	b := s.of
	if b == nil {
		return
	}
	b.limits.Decoding.Give(int(s.bytes))
	b.limits.Lists.Give(s.listed)
	b.limits.Watching.Give(s.watching)
	b.mu.Lock()
	defer b.mu.Unlock()
	a := s.account
	a.of[s.kind]--
	b.all[s.kind]--
	a.bytes -= s.bytes
	b.bytes -= s.bytes
	if *a == (account{}) {
		delete(b.users, s.user)
	}
	*s = Stay{}
}

// Bytes is how much memory is taken.
func (b *Bounds) Bytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}
