package draft

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

type schema = apiextensionsv1.JSONSchemaProps

// The bounds of one draft.
const (
	maxLevels = 32
	// maxFields is how many fields of both schemas are walked, and maxPool how many
	// that only one of them has are compared with those of the other one.
	maxFields = 20000
	maxPool   = 200
	// maxOps leaves room below what a set of rules may have.
	maxOps = 120
)

// Version is a version of a kind.
type Version struct {
	Name   string
	Schema *schema
}

// Op is an operation, or with no rule set a remark about a place.
type Op struct {
	rules.Rule
	// At is the field that it is about.
	At string
	// Certain tells that nobody has to look at it.
	Certain bool
	// Why is the reason for it, in words.
	Why string
	// Alternatives are what else it could be, the likeliest first.
	Alternatives []string
	// of is the field that is kept, or comes back.
	of *unit
}

// Draft is how the objects of one version become those of another.
type Draft struct {
	From, To string
	Ops      []Op
}

// Rules are the rules of a draft.
func (d Draft) Rules() rules.Conversion {
	c := rules.Conversion{From: d.From, To: d.To, Rules: []rules.Rule{}}
	for _, op := range d.Ops {
		if op.Rule != (rules.Rule{}) {
			c.Rules = append(c.Rules, op.Rule)
		}
	}
	return c
}

// Between drafts the conversion of one version to another.
func Between(from, to Version) Draft {
	w := &work{from: from.Name, to: to.Name}
	if from.Schema != nil && to.Schema != nil {
		versioned(w, from.Schema, to.Schema)
		moveTwins(w)
		w.conditions = schemaAt(to.Schema, []string{"status", "conditions"}) != nil
	}
	w.walk(nil, from.Schema, to.Schema, 0)
	settle(w)
	w.parts()
	w.match()
	w.rest()
	d := Draft{From: from.Name, To: to.Name, Ops: w.ordered()}
	for i := range d.Ops {
		d.Ops[i].check()
	}
	if w.cut {
		d.Ops = append(d.Ops, Op{Why: "the versions differ in more than is compared here: write the rest by hand"})
	}
	return d
}

// check makes a remark of an operation that rules cannot have, such as one on a field
// with no name.
func (op *Op) check() {
	if op.Rule == (rules.Rule{}) {
		return
	}
	spec := rules.Spec{Conversions: []rules.Conversion{{From: "v1", To: "v2", Rules: []rules.Rule{op.Rule}}}}
	if _, errs := rules.Compile(spec); len(errs) > 0 {
		op.Rule, op.Certain = rules.Rule{}, false
		op.Why += ": no rule can do it (" + errs[0].ErrorBody() + ")"
	}
}

// work is one draft that is being made.
type work struct {
	from, to string
	// gone and fresh are the fields that only one version has. Their steps are those
	// at which they stand once everything above them has moved.
	gone, fresh pool
	sequence
	// candidates are all couples that came near to each other.
	candidates []couple
	// twins are fields that names of versions tell to be the same.
	twins []twin
	// conditions tells that the new version has conditions, which take what flags told.
	conditions bool
	walked     int
}

// pool are fields that only one of the versions has.
type pool []*unit

// unit is a field that only one of the versions has.
type unit struct {
	steps []string
	s     *schema
	// used tells that it found its place, or something in it did.
	used, partly bool
	// sure tells that nobody has to look at where.
	sure bool
	// needed tells that objects without it are not valid.
	needed bool
	// whole tells that the field above it is no unit, and lone that there is nothing else in
	// that.
	whole, lone bool
	words       []string
	// common tells that others of its pool have its name, so that this says little.
	common bool
	// heir is a field of both versions that is called after it, "" for none.
	heir string
	// held tells that the other version keeps it where it is, without naming it.
	held bool
	// namesake is a field of the other version at the place that it has, or that it left
	// for that one; nil for none.
	namesake *unit
	// tokens are the words of its name, and above those of the field that it is in.
	tokens, above []string
}

// newUnit is a field of a schema.
func newUnit(steps []string, s *schema) *unit {
	u := &unit{steps: steps, s: s, words: words(s.Description), tokens: tokens(steps[len(steps)-1])}
	for i := len(steps) - 2; i >= 0 && u.above == nil; i-- {
		if steps[i] != item && (i > 0 || steps[i] != "spec" && steps[i] != "status") {
			u.above = tokens(steps[i])
		}
	}
	return u
}

func (u *unit) name() string { return u.steps[len(u.steps)-1] }

// inScope tells whether two places are in the same items of lists.
func inScope(a, b []string) bool {
	return slices.Equal(a[:lastItem(a)], b[:lastItem(b)])
}

// lastItem is where the steps within an item begin.
func lastItem(steps []string) int {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i] == item {
			return i + 1
		}
	}
	return 0
}
