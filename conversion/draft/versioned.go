package draft

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// twin is a field of each version that stand at different places and are told to be the
// same by a step above one of them, which is called as the other version.
type twin struct {
	a, b     []string
	from, to *schema
}

// versioned finds what one version keeps for the other one, and moves it before all else:
// status.deprecated.v1beta1.ready is where v1beta2 has what was status.ready, and
// status.v1beta2.ready is what v1beta2 has at status.ready. That a field of that name is
// there in both versions says nothing then.
func versioned(w *work, a, b *schema) {
	arriving := twins(a, b, versionIn(a, w.to, w.from))
	for _, t := range twins(b, a, versionIn(b, w.from, w.to)) {
		replaced := slices.ContainsFunc(arriving, func(other twin) bool { return other.in(w.to) && slices.Equal(other.b, t.b) })
		if t.in(w.from) || replaced || !stays(b, t) {
			w.twins = append(w.twins, twin{a: t.b, b: t.a, from: t.to, to: t.from})
		}
	}
	for _, t := range arriving {
		if schemaAt(a, t.b) == nil || twinned(w.twins, t.b, twin.old) { // there is room for it
			w.twins = append(w.twins, t)
		}
	}
}

// in tells whether the first field of a twin is in an object that is called as a version.
func (t twin) in(version string) bool { return t.a[len(t.a)-2] == version }

// stays tells whether the second field of a twin may as well be where it was: there is one
// like it.
func stays(in *schema, t twin) bool {
	s := schemaAt(in, t.b)
	return s != nil && alike(t.to, s)
}

// moveTwins adds the operations, those first that make room for others.
func moveTwins(w *work) {
	for _, t := range w.twins {
		w.move(t.a, t.b, Op{At: path(t.a), Why: fmt.Sprintf("%s is in what is called as a version, so it is the field of that version", path(longer(t.a, t.b)))})
		w.ops[len(w.ops)-1].room = t.a
		w.walk(t.b, t.from, t.to, len(t.b))
	}
}

func longer(a, b []string) []string {
	if len(a) > len(b) {
		return a
	}
	return b
}

// twinned tells whether a field of one version, or of the other one, is such.
func twinned(all []twin, steps []string, of func(twin) []string) bool {
	return slices.ContainsFunc(all, func(t twin) bool { return slices.Equal(of(t), steps) })
}

func (t twin) old() []string { return t.a }
func (t twin) new() []string { return t.b }

// settle tells the pools of what found its place.
func settle(w *work) {
	for _, t := range w.twins {
		w.gone.take(&unit{steps: t.a}, false)
		w.fresh.take(&unit{steps: t.b}, false)
	}
}

// aVersion are names that are nothing but versions: v4 and v6 may be those of a protocol.
var aVersion = regexp.MustCompile(`^v[0-9]+(alpha|beta)[0-9]+$`)

// versionIn tells which steps of a schema stand for the other version: those that are called
// as it, or if there is none, as any version but its own: versions of a group may stand for
// those of others.
func versionIn(s *schema, other, own string) func(string) bool {
	exact := false
	inObjects(nil, s, func(steps []string, _ *schema) bool {
		exact = exact || steps[len(steps)-1] == other
		return !exact
	})
	return func(name string) bool { return name == other || !exact && name != own && aVersion.MatchString(name) }
}

// inObjects calls a function with all objects in a schema that are in no list, and goes on
// with what is in those for which it says so.
func inObjects(at []string, s *schema, visit func([]string, *schema) bool) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		one := s.Properties[name]
		if steps := below(at, name); len(steps) <= maxLevels && kind(&one) == "object" && visit(steps, &one) {
			inObjects(steps, &one, visit)
		}
	}
}

// twins are the fields of one schema that are in an object called as the other version, if
// that has fields of the same names further up.
func twins(in, other *schema, version func(string) bool) (all []twin) {
	inObjects(nil, in, func(steps []string, s *schema) bool {
		at := steps[:len(steps)-1]
		if !version(steps[len(at)]) {
			return true
		}
		if schemaAt(other, steps) != nil { // which the other version has, too
			return false
		}
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			mine := s.Properties[field]
			if t, ok := counterpart(other, at, field, &mine); ok && len(all) < maxOps/4 {
				t.a, t.from = below(steps, field), &mine
				all = append(all, t)
			}
		}
		return false
	})
	return all
}

// counterpart is the field of a name that is nearest above a place.
func counterpart(in *schema, at []string, name string, like *schema) (t twin, ok bool) {
	for i := len(at); i > 0; i-- {
		steps := below(at[:i], name)
		if s := schemaAt(in, steps); s != nil {
			return twin{b: steps, to: s}, alike(s, like)
		}
	}
	return t, false
}

// schemaAt is the schema of a field that is in no list, nil for none.
func schemaAt(s *schema, steps []string) *schema {
	for _, step := range steps {
		one, ok := s.Properties[step]
		if !ok {
			return nil
		}
		s = &one
	}
	return s
}
