package proof

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Branches tell which branches of its code a converter takes.
type Branches interface {
	// Taken are the numbers of those that were taken since it was last asked.
	Taken() []int
	// Count is how many were ever taken, of all that there are in the functions that
	// were run.
	Count() (taken, all int)
	// Values are texts and numbers, as strings and int64, that the functions compare
	// with which were run, the most telling first.
	Values() []any
	// Near are those of the function that has a branch.
	Near(branch int) []any
}

// Coverage is how much of a converter's code a proof ran, as far as it tells.
type Coverage struct {
	// Taken are the branches that conversions took, of All in the functions that they
	// ran.
	Taken int `json:"taken"`
	All   int `json:"all"`
}

func coverageOf(b Branches) *Coverage {
	if b == nil {
		return nil
	}
	taken, all := b.Count()
	if all == 0 { // of a module that was loaded without
		return nil
	}
	return &Coverage{taken, all}
}

// The bounds of what a guide keeps.
const (
	maxSeeds  = 256
	maxValues = 256
	maxNear   = 64
	maxNext   = 8
	// maxMade is the most bytes of an object that is made of others, which grow as they
	// are joined.
	maxMade = 256 << 10
)

// late is how many objects count as late ones, and manyValues for how many objects
// values come thick and fast.
const late, manyValues = 8, 64

// guide leads a search to branches that were not taken: it keeps objects that took a new
// one, and makes others of them, and of what the code compares with.
type guide struct {
	Branches
	seen   map[int]bool
	seeds  []seed
	values []any // that the code compares with
	tried  int   // how many of them were tried
	known  map[any]bool
	made   map[string]bool
	// next are objects to make of those that took a new branch while it is followed.
	next    []func(*rand.Rand, paths) any
	follows bool
}

// seed is an object that took a new branch, with the values that are near to that.
type seed struct {
	object map[string]any
	near   []any
}

func newGuide(b Branches) *guide {
	if b == nil {
		return nil
	}
	return &guide{Branches: b, seen: map[int]bool{}, known: map[any]bool{}, made: map[string]bool{}}
}

// begin forgets what others took.
func (g *guide) begin() {
	if g != nil {
		g.Taken()
	}
}

// learn keeps an object if it took a branch that none before did.
func (g *guide) learn(obj map[string]any) {
	if g == nil {
		return
	}
	s := seed{object: obj}
	news := false
	for _, n := range g.Taken() {
		if g.seen[n] {
			continue
		}
		if g.seen[n], news = true, true; len(s.near) >= maxNear {
			continue
		}
		for _, v := range g.Near(n) {
			if len(s.near) < maxNear && !slices.Contains(s.near, v) {
				s.near = append(s.near, v)
			}
		}
	}
	if !news || len(g.seeds) >= maxSeeds {
		return
	}
	if g.follows {
		for _, v := range s.near[:min(len(s.near), maxNext)] {
			g.next = append(g.next, func(random *rand.Rand, p paths) any { return filled(s.object, p.root, v, random) })
		}
		for _, other := range g.seeds[max(0, len(g.seeds)-maxNext):] {
			g.next = append(g.next, func(*rand.Rand, paths) any {
				return joined(object.CloneValue(s.object), object.CloneValue(other.object))
			})
		}
	}
	g.seeds = append(g.seeds, s)
}

// follow tries objects that the guide makes: as many again as are made from the schema
// alone, as long as there is time. Its error is that of [search.run]; nobody claims
// that there was nothing more to reach.
func (s *search) follow(ctx context.Context) error {
	g := s.guide
	if g == nil || len(g.seeds) == 0 {
		return nil
	}
	g.begin()
	g.follows = true
	random := rand.New(rand.NewPCG(s.objects.seed, uint64(len(g.seeds))))
	for n := range s.most {
		if ctx.Err() != nil || len(s.losses) >= maxLosses {
			break
		}
		obj := g.make(random, s.objects, n%2 == 0 && n < manyValues || n%8 == 0)
		for range maxRefused {
			if obj != nil {
				break
			}
			obj = g.make(random, s.objects, false)
		}
		if obj == nil {
			continue
		}
		if s.one(ctx, obj); s.problem != nil {
			return s.problem
		}
	}
	return nil
}

// make makes an object, nil if it came to none that is new.
func (g *guide) make(random *rand.Rand, o *objects, valued bool) map[string]any {
	var obj map[string]any
	if v, ok := g.value(valued); ok {
		obj = o.make(random, nil, style{present: 100, branch: -1, fill: v})
	} else if len(g.next) > 0 {
		obj = o.completed(g.next[0](random, o.paths).(map[string]any))
		g.next = g.next[1:]
	} else {
		obj = g.changed(random, o)
	}
	data, err := object.Encode(obj)
	if obj == nil || err != nil || len(data) > maxMade || g.made[string(data)] {
		return nil
	}
	g.made[string(data)] = true
	return obj
}

// value is the next value that the code compares with and no object has had.
func (g *guide) value(wanted bool) (v any, ok bool) {
	if !wanted {
		return nil, false
	}
	if g.tried == len(g.values) {
		for _, v := range g.Values() {
			if !g.known[v] && len(g.values) < maxValues {
				g.known[v] = true
				g.values = append(g.values, v)
			}
		}
	}
	if g.tried == len(g.values) {
		return nil, false
	}
	g.tried++
	return g.values[g.tried-1], true
}
