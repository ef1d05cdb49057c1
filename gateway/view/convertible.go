package view

import (
	"context"
	"errors"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// maxUnconvertible is how many objects may not convert before it is the converter that
// is taken to be broken: each costs some calls of it to be told from the others.
const maxUnconvertible = 100

// maxSuspects is how many objects a converter may choke on before it has converted any.
const maxSuspects = 8

// Convertible are the objects of entries at a version, as [Renderer.Objects] makes them,
// with nil for each that does not convert, of which failed is told at least once. It
// fails where too many objects do not convert, and where the converter itself fails,
// unless all that converts is remembered. What a converter chokes on does not convert if
// others do.
func (r *Renderer) Convertible(ctx context.Context, entries []*Entry, version string, failed func(n int, why error)) ([]encoding.Object, error) {
	in := encoding.At(version)
	k := r.KeyOf(in)
	choked := func(was *refusal) bool { return was.choked && was.Key == k }
	return without(entries, choked, failed, func(rest []*Entry, failed func(n int, why error)) ([]encoding.Object, error) {
		s := sieve{Renderer: r, in: in, failed: failed, left: maxUnconvertible - (len(entries) - len(rest))}
		out, err := s.append(ctx, make([]encoding.Object, 0, len(rest)), rest, 0)
		if err == nil {
			err = s.convict()
		}
		if err == nil || OfObjects(err) {
			return out, err
		}
		return s.remembered(ctx, rest, err)
	})
}

// remembered is Convertible while the converter fails, without those that it refused
// before it did.
func (s *sieve) remembered(ctx context.Context, entries []*Entry, err error) ([]encoding.Object, error) {
	k := s.KeyOf(s.in)
	refused := func(was *refusal) bool { return was.Key == k }
	return without(entries, refused, s.failed, func(rest []*Entry, _ func(int, error)) ([]encoding.Object, error) {
		if len(rest) == len(entries) {
			return nil, err
		}
		return s.Objects(ctx, nil, rest, s.in)
	})
}

// without is what render makes of the rest of entries, without those that were refused in
// a way that counts; nil stands for these. failed is told of them, and of those of which
// render tells it. Where there are too many of them, it fails with what one of them did.
func without(entries []*Entry, counts func(*refusal) bool, failed func(n int, why error), render func(rest []*Entry, failed func(n int, why error)) ([]encoding.Object, error)) ([]encoding.Object, error) {
	var places []int
	var rest []*Entry
	var why error
	for n, e := range entries {
		r := e.base().refused.Load()
		out := r != nil && counts(r)
		if out && rest == nil {
			rest = append(make([]*Entry, 0, len(entries)), entries[:n]...)
			for i := range n {
				places = append(places, i)
			}
		}
		switch {
		case out:
			why = r.why
			failed(n, why)
		case rest != nil:
			places, rest = append(places, n), append(rest, e)
		}
	}
	switch {
	case rest == nil:
		return render(entries, failed)
	case len(entries)-len(rest) > maxUnconvertible:
		return nil, why
	}
	objects, err := render(rest, func(n int, why error) { failed(places[n], why) })
	if err != nil {
		return nil, err
	}
	out := make([]encoding.Object, len(entries))
	for i, n := range places {
		out[n] = objects[i]
	}
	return out, nil
}

// refusal is why a converter refused an entry, or choked on it.
type refusal struct {
	Key
	why    error
	choked bool
}

// sieve tells objects that convert from those that do not. A converter names none of
// the objects that it was sent, so that halves are tried until one is left; what was
// converted on the way is remembered, and not converted again.
type sieve struct {
	*Renderer
	in       encoding.Encoding
	failed   func(n int, why error)
	left     int // how many more may fail
	suspects []suspect
}

// suspect is an object that the converter choked on. Whose fault that is is not known
// until something was converted.
type suspect struct {
	n int
	e *Entry
	k Key
	error
}

// append takes entries, of which the first is the nth of all.
func (s *sieve) append(ctx context.Context, dst []encoding.Object, entries []*Entry, n int) ([]encoding.Object, error) {
	k := s.KeyOf(s.in)
	out, err := s.Objects(ctx, dst, entries, s.in)
	if err == nil {
		return out, nil
	}
	choked := Choked(err)
	if !choked && !OfObjects(err) || s.left == 0 {
		return nil, err
	}
	if len(entries) == 1 {
		s.left--
		if choked {
			return append(dst, nil), s.suspect(suspect{n, entries[0], k, err})
		}
		s.refuse(n, entries[0], &refusal{k, err, false})
		return append(dst, nil), nil
	}
	half := len(entries) / 2
	if dst, err = s.append(ctx, dst, entries[:half], n); err != nil {
		return nil, err
	}
	return s.append(ctx, dst, entries[half:], n+half)
}

func (s *sieve) refuse(n int, e *Entry, r *refusal) {
	s.failed(n, r.why)
	e.base().refused.Store(r)
}

// suspect remembers that the converter choked on something, which is the error where it
// seems to choke on everything.
func (s *sieve) suspect(x suspect) error {
	s.suspects = append(s.suspects, x)
	if len(s.suspects) >= maxSuspects {
		return s.convict()
	}
	return nil
}

// convict leaves the suspects out, if others convert; else it is the converter that does
// not work.
func (s *sieve) convict() error {
	for _, x := range s.suspects {
		if !s.works(s.in.Version, x.k.converter) {
			return x.error
		}
		s.refuse(x.n, x.e, &refusal{x.k, x.error, true})
	}
	s.suspects = nil
	return nil
}

// OfObjects tells that err is because objects do not convert, while their converter
// works.
func OfObjects(err error) bool {
	var u *UnconvertedError
	return errors.As(err, &u) && u.OfObjects
}

// Choked tells that err is because a converter ended on objects, which either do not
// convert, or it is broken.
func Choked(err error) bool {
	var u *UnconvertedError
	return errors.As(err, &u) && u.Choked
}
