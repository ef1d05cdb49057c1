package rules

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The bounds of one set of rules.
const (
	maxConversions = 32
	maxRules       = 128
	maxValues      = 256
	maxText        = 4096
)

// step does to an item what one operation does, in one direction.
type step func(r *run, item []string) error

// op is a compiled operation.
type op struct {
	at    string // where it is written
	scope scope
	there step
	back  step // nil where it does not follow
	// why says what would have to be written for a way back.
	why string
}

// edge is one direction of a conversion.
type edge struct {
	from, to string
	ops      []*op
	back     bool
}

// Rules are compiled rules. They are safe for concurrent use.
type Rules struct {
	ways map[pair][]edge
	ack  []string
}

// pair is two versions.
type pair struct{ from, to string }

// Compile compiles rules as they are written, or says all that is wrong with them: each
// error names the field of the rule.
func Compile(s Spec) (*Rules, field.ErrorList) {
	r, doubts, errs := CompileStored(s)
	if errs = append(errs, doubts...); len(errs) > 0 {
		return nil, errs
	}
	return r, nil
}

// CompileStored compiles rules that convert already: errs are why they cannot, and doubts
// what Compile refuses in them besides, since it was not always refused. Each names the
// field of the rule.
func CompileStored(s Spec) (r *Rules, doubts, errs field.ErrorList) {
	at := field.NewPath("spec", "conversions")
	switch n := len(s.Conversions); {
	case n == 0:
		return nil, nil, field.ErrorList{field.Required(at, "say between which versions to convert")}
	case n > maxConversions:
		return nil, nil, field.ErrorList{field.TooMany(at, n, maxConversions)}
	}
	written := map[pair]bool{}
	for i, c := range s.Conversions {
		errs = append(errs, named(at.Index(i), c)...)
		if p := (pair{c.From, c.To}); written[p] {
			errs = append(errs, field.Duplicate(at.Index(i), c.From+" to "+c.To))
		} else {
			written[p] = true
		}
	}
	var edges []edge
	for i, c := range s.Conversions {
		ops, shared, wrong := compileAll(at.Index(i).Child("rules"), c.Rules)
		doubts, errs = append(doubts, shared...), append(errs, wrong...)
		edges = append(edges, edge{from: c.From, to: c.To, ops: ops})
		if written[pair{c.To, c.From}] {
			continue // the way back is written, too
		}
		for _, o := range ops {
			if o.back == nil {
				errs = append(errs, field.Required(at.Index(i).Child("rules"), fmt.Sprintf("%s does not say the way back: %s, or write a conversion from %s to %s", o.at, o.why, c.To, c.From)))
			}
		}
		edges = append(edges, edge{from: c.To, to: c.From, ops: ops, back: true})
	}
	if len(errs) > 0 {
		return nil, doubts, errs
	}
	return &Rules{ways: routes(edges), ack: s.AcknowledgedLoss}, doubts, nil
}

// named judges the versions of a conversion.
func named(at *field.Path, c Conversion) (errs field.ErrorList) {
	for _, x := range [][2]string{{"from", c.From}, {"to", c.To}} {
		for _, msg := range validation.IsDNS1035Label(x[1]) {
			errs = append(errs, field.Invalid(at.Child(x[0]), x[1], "it does not name a version: "+msg))
		}
	}
	if c.From == c.To {
		errs = append(errs, field.Invalid(at.Child("to"), c.To, "it is the version that is converted from"))
	}
	if n := len(c.Rules); n > maxRules {
		errs = append(errs, field.TooMany(at.Child("rules"), n, maxRules))
	}
	return errs
}

// routes finds the shortest way between each two versions.
func routes(edges []edge) map[pair][]edge {
	ways := map[pair][]edge{}
	for _, first := range edges {
		start := first.from
		reached := map[string][]edge{start: nil}
		for next := []string{start}; len(next) > 0; next = next[1:] {
			for _, e := range edges {
				if _, known := reached[e.to]; e.from != next[0] || known {
					continue
				}
				reached[e.to] = append(slices.Clone(reached[e.from]), e)
				next = append(next, e.to)
			}
		}
		for to, way := range reached {
			if len(way) > 0 {
				ways[pair{start, to}] = way
			}
		}
	}
	return ways
}

// Versions tells from which version to which the rules convert, as "from to".
func (r *Rules) Versions() []string {
	var all []string
	for p := range r.ways {
		all = append(all, p.from+" "+p.to)
	}
	slices.Sort(all)
	return all
}

// Acknowledged are the paths of fields whose loss is meant.
func (r *Rules) Acknowledged() []string { return r.ack }

// compileAll compiles the rules of a conversion; shared are the annotations of several.
func compileAll(at *field.Path, all []Rule) (ops []*op, shared, errs field.ErrorList) {
	used := annotations{}
	for i, rule := range all[:min(len(all), maxRules)] {
		set := rule.operations()
		if len(set) != 1 {
			names := slices.Sorted(maps.Keys(set))
			if len(names) == 0 {
				errs = append(errs, field.Required(at.Index(i), "say what to do: one of rename, move, copy, remove, split, join, regexp, map, default, constant, scale, unit, type, listToMap, mapToList, toList, fromList, union, keep, restore, cel"))
			} else {
				errs = append(errs, field.Invalid(at.Index(i), names, "a rule does one thing: make a rule of each"))
			}
			continue
		}
		for name, compile := range set {
			c := &compiler{at: at.Index(i).Child(name)}
			o := compile(c)
			if err := used.add(c, name); err != nil {
				shared = append(shared, err)
			}
			if errs = append(errs, c.errs...); len(c.errs) == 0 {
				o.at = c.at.String()
				ops = append(ops, o)
			}
		}
	}
	return ops, shared, errs
}

// operations are the fields of a rule that are set, by name.
func (r Rule) operations() map[string]func(*compiler) *op {
	set := map[string]func(*compiler) *op{}
	add(set, "rename", r.Rename)
	add(set, "move", r.Move)
	if r.Copy != nil {
		set["copy"] = (*duplicate)(r.Copy).compile
	}
	add(set, "remove", r.Remove)
	add(set, "split", r.Split)
	add(set, "join", r.Join)
	add(set, "regexp", r.Regexp)
	add(set, "map", r.Map)
	if r.Default != nil {
		set["default"] = (*absent)(r.Default).compile
	}
	if r.Constant != nil {
		set["constant"] = (*always)(r.Constant).compile
	}
	add(set, "scale", r.Scale)
	add(set, "unit", r.Unit)
	add(set, "type", r.Type)
	add(set, "listToMap", r.ListToMap)
	add(set, "mapToList", r.MapToList)
	if r.ToList != nil {
		set["toList"] = (*wrapped)(r.ToList).compile
	}
	if r.FromList != nil {
		set["fromList"] = func(c *compiler) *op { return turned((*wrapped)(r.FromList).compile(c)) }
	}
	add(set, "union", r.Union)
	add(set, "keep", r.Keep)
	if r.Restore != nil {
		set["restore"] = func(c *compiler) *op { return turned(r.Restore.compile(c)) }
	}
	add(set, "cel", r.CEL)
	return set
}

// add adds an operation that is set.
func add[T any, P interface {
	*T
	compile(*compiler) *op
}](set map[string]func(*compiler) *op, name string, p P) {
	if p != nil {
		set[name] = p.compile
	}
}

// turned is an operation the other way around.
func turned(o *op) *op {
	if o != nil {
		o.there, o.back = o.back, o.there
	}
	return o
}

// compiler compiles one operation, and collects what is wrong with it.
type compiler struct {
	at   *field.Path
	errs field.ErrorList
	// keptIn is the annotation that the operation keeps something in, which its field
	// keptBy names; "" for none.
	keptIn, keptBy string
}

func (c *compiler) invalid(name, value, detail string) {
	c.errs = append(c.errs, field.Invalid(c.at.Child(name), value, detail))
}

// text bounds a text of a rule.
func (c *compiler) text(name, value string) {
	switch {
	case value == "":
		c.errs = append(c.errs, field.Required(c.at.Child(name), ""))
	case len(value) > maxText:
		c.errs = append(c.errs, field.TooLong(c.at.Child(name), "", maxText))
	}
}

// paths reads paths that have their items in common: name and path in turn. They are
// returned as they are within an item; one that may not be the item itself is refused
// if it is.
func (c *compiler) paths(inPlace bool, namesAndPaths ...string) (scope, [][]string) {
	var names []string
	var paths [][]string
	for i := 0; i < len(namesAndPaths); i += 2 {
		name, text := namesAndPaths[i], namesAndPaths[i+1]
		p, err := parsePath(text)
		if err != nil {
			c.invalid(name, text, err.Error())
			continue
		}
		names, paths = append(names, name), append(paths, p)
	}
	if len(c.errs) > 0 {
		return scope{}, make([][]string, len(namesAndPaths)/2)
	}
	s, rests, err := within(c.at, names, paths)
	if err != nil {
		c.errs = append(c.errs, err)
		return scope{}, make([][]string, len(namesAndPaths)/2)
	}
	for i, rest := range rests {
		if len(rest) == 0 && !inPlace {
			c.invalid(names[i], show(paths[i]), "it is an item itself: name a field of the item after [*]")
		}
	}
	return s, rests
}
