package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
)

// search is the proof for one pair.
type search struct {
	journey
	objects *objects
	most    int

	fields  map[string]bool // whether an object that was tried has the field
	tried   int
	losses  []Loss
	failing map[string]bool // the fields at which conversions fail
	told    map[string]bool // by field, and what failures say
	problem error           // a conversion that failed for reasons of its own
	guide   *guide          // nil where the converter does not tell what it runs
}

func newSearch(d *crd.Definition, c conversion.Converter, p Pair, o Options) (*search, error) {
	from, to := d.Version(p.From), d.Version(p.To)
	for name, v := range map[string]*crd.Version{p.From: from, p.To: to} {
		if v == nil {
			return nil, fmt.Errorf("there is no version %q", name)
		}
	}
	made, err := newObjects(d, from, o.Seed)
	if err != nil {
		return nil, err
	}
	s := &search{
		journey: journey{
			from: end{from, d.APIVersion(p.From)}, to: end{to, d.APIVersion(p.To)},
			converter: c, acknowledged: o.Acknowledged, temporary: o.Temporary, paths: made.paths, found: map[string]bool{},
			oneWay: !here(d, from) && !o.BackToAll,
		},
		objects: made, most: o.Objects, fields: map[string]bool{}, failing: map[string]bool{}, told: map[string]bool{},
		guide: newGuide(o.Branches),
	}
	for _, t := range made.targets {
		s.fields[t.field] = false
	}
	return s, nil
}

// maxRefused is how many attempts there are to make an object, for each that is to
// be tried.
const maxRefused = 5

func (s *search) reached() (n int) {
	for _, is := range s.fields {
		if is {
			n++
		}
	}
	return n
}

// run tries objects until there are enough. Its error says why the pair is not
// known to lose nothing; of a pair that does lose something it means nothing.
func (s *search) run(ctx context.Context) error {
	s.guide.begin()
	left := maxRefused * s.most
	for obj := range s.objects.all {
		if left--; left < 0 {
			break
		}
		if ctx.Err() != nil || s.tried >= s.most || len(s.losses) >= maxLosses {
			break
		}
		if obj == nil { // one that the schema's own rules refuse
			continue
		}
		if s.one(ctx, obj); s.problem != nil {
			return s.problem
		}
	}
	return s.missing(ctx)
}

// one tries an object, and learns from it.
func (s *search) one(ctx context.Context, obj map[string]any) {
	s.tried++
	s.paths.each(obj, func(field string) {
		if _, known := s.fields[field]; known {
			s.fields[field] = true
		}
	})
	s.each(ctx, obj)
	s.guide.learn(obj)
}

// try reports whether an object showed something new.
func (s *search) try(ctx context.Context, obj map[string]any) bool {
	f, err := s.journey.run(ctx, obj, 2)
	if err != nil {
		if !over(ctx) {
			s.problem = err
		}
		return false
	}
	if f == nil {
		return false
	}
	small := s.shrink(ctx, obj, f)
	s.know(small.finding)
	l := s.loss(small.object, small.finding)
	if l.Problem == Fails && s.again(l.Field, small.finding) {
		return true
	}
	s.losses = append(s.losses, l)
	return true
}

// What ends a search before it is done: it may come to more another time.
var (
	errBudget      = errors.New("the time is up")
	errInterrupted = errors.New("it was interrupted")
)

func (s *search) missing(ctx context.Context) error {
	reached := s.reached()
	state := fmt.Sprintf("%d objects were tried, which have %d of %d fields", s.tried, reached, len(s.fields))
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%w: %s", errInterrupted, state)
	case over(ctx):
		return fmt.Errorf("%w: %s", errBudget, state)
	case s.tried == 0:
		return fmt.Errorf("no object could be made that the version's own rules accept")
	case reached < len(s.fields):
		var not []string
		for _, t := range s.objects.targets {
			if !s.fields[t.field] && len(not) < 3 && !slices.Contains(not, t.field) {
				not = append(not, t.field)
			}
		}
		return fmt.Errorf("%s, but not %s", state, strings.Join(not, ", "))
	}
	return nil
}
