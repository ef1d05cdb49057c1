package run

import (
	"time"

	"github.com/wasmgate/wasmgate/gateway/view"
)

// joinLeast is the shortest list of which anything is kept joined. It is kept for
// [view.KeepFor] after it was last asked for, and must be asked for again as soon to be
// kept at all: most collections are listed once, and then watched.
const joinLeast = 2 * runLength

// Stretch are neighbours in a list: entries from From to before To.
type Stretch struct {
	From, To int
	// Joined are their encodings, each after a separator, if they are kept. They
	// are shared and must not be changed.
	Joined []byte
	// run is to be kept by whoever has this stretch.
	run *run
}

// Wanted tells that the stretch is worth keeping, which nobody else is about to.
func (s *Stretch) Wanted() bool { return s.run != nil }

// Keep has a wanted stretch kept for the lists that follow. entries are those of
// the whole list.
func (s *Stretch) Keep(entries []*view.Entry, joined []byte) {
	text := s.run.Key.Key // which a converter made, if any
	text.Encoding = text.Base()
	for _, e := range entries[s.From:s.To] {
		if e.Converted(text) {
			s.run.converted++
		}
	}
	s.run.joined.Store(&joined)
	s.run.memory.Grew(len(joined))
	s.Joined, s.run = joined, nil
}

// Stretches divides a list, so that what was sent before need not be encoded and
// put together again.
func Stretches(entries []*view.Entry, in Key, now time.Time) []Stretch {
	if len(entries) < joinLeast {
		return []Stretch{{To: len(entries)}}
	}
	in.joined = true
	var out []Stretch
	starts := divide(entries)
	for n, from := range starts {
		s := stretchOf(entries[from:until(starts, n, entries)], in, now)
		s.From, s.To = s.From+from, s.To+from
		if last := len(out) - 1; last >= 0 && out[last].plain() && s.plain() {
			out[last].To = s.To
			continue
		}
		out = append(out, s)
	}
	return out
}

// plain: nothing is kept of the stretch, or to be kept.
func (s *Stretch) plain() bool { return s.Joined == nil && s.run == nil }

// stretchOf is what is known of entries, which are a run.
func stretchOf(entries []*view.Entry, in Key, now time.Time) Stretch {
	s := Stretch{To: len(entries)}
	known := known(in, entries)
	if known == nil || known.joined.Load() == nil && now.Sub(known.asked()) > view.KeepFor {
		made := &run{Key: in, ids: identities(entries)}
		made.used.Store(now.UnixNano())
		keep(entries[0], made)
		in.memory.Grew(made.Size())
		in.memory.Passing()
		return s
	}
	if joined := known.joined.Load(); joined != nil {
		known.used.Store(now.UnixNano())
		in.memory.Spared(known.converted)
		s.Joined = *joined
	} else if known.taken.CompareAndSwap(false, true) {
		s.run = known
	}
	return s
}

// divide is where runs begin, by what is known without encoding anything.
func divide(entries []*view.Entry) (starts []int) {
	bytes := 0
	for i, e := range entries {
		if i == 0 || begins(e) || bytes >= runBytes {
			starts, bytes = append(starts, i), 0
		}
		bytes += e.StoredSize()
	}
	return starts
}

// asked is when somebody asked for the run last.
func (r *run) asked() time.Time { return time.Unix(0, r.used.Load()) }
