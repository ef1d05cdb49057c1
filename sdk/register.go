package sdk

import (
	"maps"
	"slices"
)

// Func converts one object in place, from the version it was registered with
// to the next. It changes the fields that differ; apiVersion, kind and metadata
// are taken care of, and of metadata only labels and annotations may be changed.
//
// The result must depend on the object alone. An error fails the whole request
// that needed the conversion, with its text as the message, so conversions
// should fail only where there is no sensible result.
type Func func(o *Object) error

// step is one registered direction.
type step struct {
	to string
	fn Func
}

// Kind collects the conversions of one kind; see [For].
type Kind struct {
	steps map[string][]step
}

// kinds is written by init functions only, so it needs no lock.
var kinds = map[string]*Kind{}

// For returns the conversions of one kind, for a module that converts several
// kinds that have equal version names. Conversions registered with [Convert]
// are for all kinds that were never named here.
func For(kind string) *Kind {
	k := kinds[kind]
	if k == nil {
		k = &Kind{steps: map[string][]step{}}
		kinds[kind] = k
	}
	return k
}

// Convert registers fn for objects at version from. Versions are bare names:
// "v1", not "example.com/v1". Where there is no function for a pair of
// versions the shortest chain of functions is used, so that n versions need
// 2(n-1) functions, to and from one of them. Call it from init.
func Convert(from, to string, fn Func) { For("").Convert(from, to, fn) }

// Convert registers fn like the function of this name, for this kind only.
func (k *Kind) Convert(from, to string, fn Func) {
	k.steps[from] = append(k.steps[from], step{to, fn})
}

// route finds the shortest chain of steps between two versions; nil when there
// is none.
func (k *Kind) route(from, to string) []step {
	for i, s := range k.steps[from] { // as nearly always
		if s.to == to {
			return k.steps[from][i : i+1 : i+1]
		}
	}
	type reached struct {
		version string
		path    []step
	}
	seen := map[string]bool{from: true}
	for queue := []reached{{version: from}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, s := range k.steps[at.version] {
			if seen[s.to] {
				continue
			}
			seen[s.to] = true
			path := append(at.path[:len(at.path):len(at.path)], s)
			if s.to == to {
				return path
			}
			queue = append(queue, reached{s.to, path})
		}
	}
	return nil
}

// versions is a pair of them.
type versions struct{ from, to string }

// conversions are all pairs of versions that there is a route between, sorted.
func (k *Kind) conversions() (all []versions) {
	known := map[string]struct{}{}
	for from, steps := range k.steps {
		known[from] = struct{}{}
		for _, s := range steps {
			known[s.to] = struct{}{}
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, from := range names {
		for _, to := range names {
			if from != to && k.route(from, to) != nil {
				all = append(all, versions{from, to})
			}
		}
	}
	return all
}

// kindFor only reads, since it runs while requests are served.
func kindFor(name string) *Kind {
	if k := kinds[name]; k != nil {
		return k
	}
	if k := kinds[""]; k != nil {
		return k
	}
	return &Kind{}
}
