package view

import (
	"context"
	"errors"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// maxUnconvertible is how many objects may not convert before it is the converter that
// is taken to be broken: each costs some calls of it to be told from the others.
const maxUnconvertible = 100

// Convertible are the objects of entries at a version, as [Renderer.Objects] makes them,
// with nil for each that does not convert, of which failed is told at least once. It
// fails where too many objects do not convert, and where the converter itself fails,
// unless all that converts is remembered.
func (r *Renderer) Convertible(ctx context.Context, entries []*Entry, version string, failed func(n int, why error)) ([]encoding.Object, error) {
	s := sieve{Renderer: r, in: encoding.At(version), failed: failed, left: maxUnconvertible}
	out, err := s.append(ctx, make([]encoding.Object, 0, len(entries)), entries, 0)
	if err == nil || OfObjects(err) {
		return out, err
	}
	return s.remembered(ctx, entries, err)
}

// remembered is Convertible while the converter fails, without those that it refused
// before it did.
func (s *sieve) remembered(ctx context.Context, entries []*Entry, err error) ([]encoding.Object, error) {
	var places []int
	var rest []*Entry
	k := s.KeyOf(s.in)
	for n, e := range entries {
		if r := e.base().refused.Load(); r != nil && r.Key == k {
			s.failed(n, r.why)
		} else {
			places, rest = append(places, n), append(rest, e)
		}
	}
	if len(rest) == len(entries) {
		return nil, err
	}
	objects, err := s.Objects(ctx, nil, rest, s.in)
	if err != nil {
		return nil, err
	}
	out := make([]encoding.Object, len(entries))
	for i, n := range places {
		out[n] = objects[i]
	}
	return out, nil
}

// refusal is why a converter refused an entry.
type refusal struct {
	Key
	why error
}

// sieve tells objects that convert from those that do not. A converter names none of
// the objects that it was sent, so that halves are tried until one is left; what was
// converted on the way is remembered, and not converted again.
type sieve struct {
	*Renderer
	in     encoding.Encoding
	failed func(n int, why error)
	left   int // how many more may fail
}

// append takes entries, of which the first is the nth of all.
func (s *sieve) append(ctx context.Context, dst []encoding.Object, entries []*Entry, n int) ([]encoding.Object, error) {
	k := s.KeyOf(s.in)
	out, err := s.Objects(ctx, dst, entries, s.in)
	if err == nil {
		return out, nil
	}
	if !OfObjects(err) || s.left == 0 {
		return nil, err
	}
	if len(entries) == 1 {
		s.left--
		s.failed(n, err)
		entries[0].base().refused.Store(&refusal{k, err})
		return append(dst, nil), nil
	}
	half := len(entries) / 2
	if dst, err = s.append(ctx, dst, entries[:half], n); err != nil {
		return nil, err
	}
	return s.append(ctx, dst, entries[half:], n+half)
}

// OfObjects tells that err is because objects do not convert, while their converter
// works.
func OfObjects(err error) bool {
	var u *UnconvertedError
	return errors.As(err, &u) && u.OfObjects
}
