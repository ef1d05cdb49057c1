package draft

import (
	"fmt"
	"slices"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// Chain drafts the conversions of versions, each to the next.
func Chain(versions ...Version) (all []Draft) {
	for i := 1; i < len(versions); i++ {
		all = append(all, Between(versions[i-1], versions[i]))
	}
	apart(all)
	return all
}

// keeping is an annotation, and the field that is kept in it.
type keeping struct {
	// versions are those that have the field, of which field is the last one's, and away
	// tells that it went into the annotation last, and did not come out of it.
	versions []string
	field    *unit
	away     bool
}

// apart gives fields of several versions that have one name, and between which is a version
// without it, annotations of their own, unless they are alike: then what the one version had
// is what the other one gets.
func apart(all []Draft) {
	known := map[string]*keeping{}
	for _, d := range all {
		for i := range d.Ops {
			op := &d.Ops[i]
			switch {
			case op.of == nil || op.Rule == (rules.Rule{}):
			case op.Keep != nil:
				op.owned(known, op.Keep, d.From, true)
			case op.Restore != nil:
				op.owned(known, op.Restore, d.To, false)
			}
		}
	}
}

// owned finds out whether the annotation of an operation is that of another field, and names
// it after its version then.
func (op *Op) owned(known map[string]*keeping, k *rules.Keep, version string, away bool) {
	name := k.Name()
	one := known[name]
	switch {
	case one == nil:
		one = &keeping{versions: []string{version}}
		known[name] = one
	case slices.Contains(one.versions, version):
	case one.away && !away && slices.Equal(one.field.steps, op.of.steps) && !differ(one.field.s, op.of.s):
		one.versions = append(one.versions, version)
		if len(between(one.field.s, op.of.s)) > 0 {
			op.doubt(one, "%s has it, too, with other values, and it is taken for the same")
		}
	default:
		op.doubt(one, "%s has something else of that name, so it is kept apart")
		k.Annotation = versionedAnnotation(version, op.of.steps)
		if one = known[k.Annotation]; one == nil {
			one = &keeping{versions: []string{version}}
			known[k.Annotation] = one
		}
	}
	one.field, one.away = op.of, away
}

// versionedAnnotation is the annotation of a field that others have not but one version.
func versionedAnnotation(version string, steps []string) string {
	all := append([]string{version}, steps...)
	if name := annotation(all); name != "" {
		return name
	}
	return (&rules.Keep{Field: path(all)}).Name()
}

func (op *Op) doubt(one *keeping, format string) {
	op.Certain = false
	op.Why += "; " + fmt.Sprintf(format, one.versions[len(one.versions)-1])
}

// differ tells whether a value of a field would be none of another one.
func differ(a, b *schema) bool {
	return kind(a) != kind(b) || slices.ContainsFunc(between(a, b), func(op Op) bool { return op.Rule != (rules.Rule{}) })
}

// between are the operations between two fields, there and back.
func between(a, b *schema) []Op {
	in := func(s *schema) *schema { return &schema{Type: "object", Properties: map[string]schema{"field": *s}} }
	one, other := Version{"a", in(a)}, Version{"b", in(b)}
	return append(Between(one, other).Ops, Between(other, one).Ops...)
}
