package catalog

import "time"

const (
	// joinLeast is the shortest list of which anything is kept joined.
	joinLeast = 2 * runLength
	// keepFor is how long what lists send is kept joined after it was last asked
	// for, and how soon it must be asked for again to be kept at all: most
	// collections are listed once, and then watched.
	keepFor = time.Minute
)

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
func (r *Resource) Keep(s *Stretch, entries []*Entry, joined []byte) {
	text := s.run.viewKey // which a converter made, if any
	text.Encoding = text.Base()
	for _, e := range entries[s.From:s.To] {
		if v := e.view(text); v != nil && v.converted {
			s.run.converted++
		}
	}
	s.run.joined.Store(&joined)
	s.Joined, s.run = joined, nil
	r.memory.grew(len(joined))
}

// Stretches divides a list, so that what was sent before need not be encoded and
// put together again.
func (r *Resource) Stretches(entries []*Entry, in RunKey, now time.Time) []Stretch {
	if len(entries) < joinLeast {
		return []Stretch{{To: len(entries)}}
	}
	in.joined = true
	var out []Stretch
	starts := divide(entries)
	for n, from := range starts {
		s := r.stretch(entries[from:until(starts, n, entries)], in, now)
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

// stretch is what is known of entries, which are a run.
func (r *Resource) stretch(entries []*Entry, in RunKey, now time.Time) Stretch {
	s := Stretch{To: len(entries)}
	known := entries[0].run(in, entries)
	if known == nil || known.joined.Load() == nil && now.Sub(known.asked()) > keepFor {
		made := &run{RunKey: in, ids: identities(entries)}
		made.used.Store(now.UnixNano())
		entries[0].addRun(made)
		r.memory.grew(made.size())
		r.memory.passing()
		return s
	}
	if joined := known.joined.Load(); joined != nil {
		known.used.Store(now.UnixNano())
		r.spared(known.converted)
		s.Joined = *joined
	} else if known.taken.CompareAndSwap(false, true) {
		s.run = known
	}
	return s
}

// divide is where runs begin, by what is known without encoding anything.
func divide(entries []*Entry) (starts []int) {
	bytes := 0
	for i, e := range entries {
		if i == 0 || e.begins() || bytes >= runBytes {
			starts, bytes = append(starts, i), 0
		}
		bytes += len(e.Stored)
	}
	return starts
}

// asked is when somebody asked for the run last.
func (r *run) asked() time.Time { return time.Unix(0, r.used.Load()) }

// expire gives up what is joined and was not asked for since a time. It returns
// how many bytes that were, and whether there is more to expire.
func (e *Entry) expire(since time.Time) (freed int, more bool) {
	for {
		head := e.runs.Load()
		var kept []*run
		freed, more = 0, false
		for n := head; n != nil; n = n.next {
			if n.RunKey.joined && n.asked().Before(since) {
				freed += n.size()
				continue
			}
			more = more || n.RunKey.joined
			kept = append(kept, n.run)
		}
		if freed == 0 || e.runs.CompareAndSwap(head, listed(kept)) {
			return freed, more
		}
	}
}
