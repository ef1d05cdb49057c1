package managedfields_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// sequence makes a case as it goes: what is written next follows from what is
// there, as the oracle says.
type sequence struct {
	oracleGen
	*run
	wild    int
	crowd   bool
	left    int
	applied map[string]map[string]any // by version and manager
}

// perSetting is how many seeds in a row share their definitions, which are
// costly to make.
const perSetting = 8

// setting keeps the definitions of the last seed, and how often anything was
// compared at all seeds.
type setting struct {
	number      uint64
	definitions []oracleDefinition
	worlds      []*world
	seen        map[string]int
}

func (s *setting) of(seed uint64) (err error) {
	number := seed / perSetting
	if s.worlds != nil && s.number == number {
		return nil
	}
	g := oracleGen{rand.New(rand.NewPCG(number, 7))}
	s.number, s.definitions = number, g.definitions()
	s.worlds, err = newWorlds(s.definitions)
	return err
}

func newSequence(seed uint64, at *setting) (*sequence, error) {
	if err := at.of(seed); err != nil {
		return nil, err
	}
	g := oracleGen{rand.New(rand.NewPCG(seed, 6))}
	r := runIn(at.worlds, &oracleCase{Note: fmt.Sprintf("seed %d", seed), Definitions: at.definitions})
	s := &sequence{oracleGen: g, run: r, crowd: g.rarely(8), applied: map[string]map[string]any{}}
	if g.rarely(5) {
		s.wild = 30
	}
	s.left = 5 + g.IntN(11)
	if s.crowd {
		s.left += 14
	}
	return s, nil
}

// next makes the next operation and does it on both sides; false after the
// last one.
func (s *sequence) next() (bool, error) {
	if s.left == 0 {
		return false, nil
	}
	s.left--
	s.c.Ops = append(s.c.Ops, s.op())
	return true, s.step(&s.c.Ops[len(s.c.Ops)-1])
}

// runSeed makes the case of a seed and runs it as far as the first difference.
func runSeed(seed uint64, at *setting) (*oracleCase, *difference, error) {
	s, err := newSequence(seed, at)
	if err != nil {
		return nil, nil, err
	}
	d, err := safely(func() (*difference, error) {
		for {
			more, err := s.next()
			var d *difference
			if errors.As(err, &d) || err != nil || !more {
				return d, notDifference(err)
			}
		}
	})
	at.count(s.seen)
	return s.c, d, err
}

func (s *sequence) op() oracleOp {
	if len(s.c.Definitions) > 1 && s.rarely(8) {
		return oracleOp{Do: "redefine", Definition: s.IntN(len(s.c.Definitions))}
	}
	op := oracleOp{Seconds: []int{0, 0, 1, 5}[s.IntN(4)], Version: oracleStorage}
	if s.often(4) {
		op.Version = s.world.from.Versions[s.IntN(len(s.world.from.Versions))].Name
	}
	live, ok := s.at(op.Version)
	if !ok {
		return oracleOp{Do: "redefine"}
	}
	v := s.world.from.version(op.Version)
	if live != nil && v.Status && s.rarely(4) {
		op.Subresource = "status"
	}
	if live == nil && s.often(6) || live != nil && s.often(5) || s.crowd && s.often(8) {
		s.write(&op, v, live)
	} else {
		s.configure(&op, v, live)
	}
	return op
}

// write makes op a create or an update.
func (s *sequence) write(op *oracleOp, v *oracleVersion, live map[string]any) {
	op.Do = "update"
	op.Manager = s.one("kubectl-client-side-apply", "a", "b", "controller", `x<y>&"é`)
	if s.crowd {
		op.Manager = fmt.Sprintf("m%d", s.IntN(16))
	}
	switch {
	case live == nil:
		op.Do = "create"
		op.Body = s.whole(v, nil)
	case s.crowd && s.often(7):
		op.Body = annotated(live, op.Manager, s.one("x", "y"))
	case s.rarely(10):
		op.Body = cloneTree(live)
	case s.rarely(6):
		op.Body = s.whole(v, live)
	default:
		op.Body = s.edited(v, live)
	}
	if op.Manager == "kubectl-client-side-apply" && s.often(7) {
		s.rememberApplied(op, v)
	}
	if s.rarely(10) {
		op.Managed = s.managed()
	}
}

// configure makes op an apply.
func (s *sequence) configure(op *oracleOp, v *oracleVersion, live map[string]any) {
	op.Do, op.Force = "apply", s.rarely(3)
	op.Manager = s.one("kubectl", "a", "b", "gitops", `x<y>&"é`)
	key := op.Manager + op.Subresource
	last := s.applied[key]
	switch {
	case last != nil && s.often(5):
		op.Body = s.edited(v, last)
	case live != nil && s.often(5):
		op.Body = s.edited(v, s.part(v.Schema, withoutIdentity(live)).(map[string]any))
	case live != nil && s.rarely(8):
		op.Body = map[string]any{}
	default:
		op.Body = s.part(v.Schema, s.whole(v, live)).(map[string]any)
	}
	meta := s.metadata(op.Body["metadata"])
	meta["name"] = "o"
	if s.often(5) {
		meta["namespace"] = "n"
	}
	op.Body["metadata"] = meta
	op.Body["apiVersion"], op.Body["kind"] = s.world.from.api(op.Version), s.world.from.kind()
	if s.rarely(60) {
		op.Body[s.one("apiVersion", "kind")] = "Other"
	}
	s.applied[key] = op.Body
}

// whole is a new state of everything.
func (s *sequence) whole(v *oracleVersion, live map[string]any) map[string]any {
	out := map[string]any{}
	if v.Schema == nil {
		out["spec"] = s.anything(4)
	} else {
		out = s.value(v.Schema, 0).(map[string]any)
	}
	out["metadata"] = s.metadata(live["metadata"])
	return out
}

// edited is a tree after small changes.
func (s *sequence) edited(v *oracleVersion, tree map[string]any) map[string]any {
	out := cloneTree(tree)
	for _, name := range slices.Sorted(maps.Keys(out)) {
		switch {
		case name == "apiVersion" || name == "kind":
		case name == "metadata":
			if s.often(3) {
				out[name] = s.metadata(out[name])
			}
		case s.rarely(12):
			delete(out, name)
		case s.often(6):
			out[name] = s.changed(child(v.Schema, name), out[name], s.wild)
		}
	}
	if v.Schema == nil {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(v.Schema.Properties)) {
		if _, ok := out[name]; !ok && s.rarely(4) {
			p := v.Schema.Properties[name]
			out[name] = s.value(&p, s.wild)
		}
	}
	return out
}

// annotated is a tree with one more annotation, so that whoever writes it owns
// something.
func annotated(tree map[string]any, name, value string) map[string]any {
	out := cloneTree(tree)
	meta, ok := out["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		out["metadata"] = meta
	}
	notes, ok := meta["annotations"].(map[string]any)
	if !ok {
		notes = map[string]any{}
		meta["annotations"] = notes
	}
	notes[name] = value
	return out
}

func withoutIdentity(tree map[string]any) map[string]any {
	out := cloneTree(tree)
	if meta, ok := out["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "creationTimestamp", "generation"} {
			delete(meta, name)
		}
	}
	return out
}

// rememberApplied sets the annotation of client-side apply, mostly to what is
// written.
func (s *sequence) rememberApplied(op *oracleOp, v *oracleVersion) {
	config := withoutIdentity(op.Body)
	config["apiVersion"], config["kind"] = s.world.from.api(op.Version), s.world.from.kind()
	delete(config, "status")
	if s.rarely(4) {
		config = s.edited(v, config)
	}
	text := asJSON(config)
	if s.rarely(12) {
		text = s.one("", "{", "null", "[]", `{"apiVersion":"v1"}`, `{"apiVersion":"`+oracleGroup+`/v1","kind":"Foo","spec":7}`)
	}
	op.Body = annotated(op.Body, "kubectl.kubernetes.io/last-applied-configuration", text)
}

// metadata is metadata after changes of what clients change in it.
func (g oracleGen) metadata(from any) map[string]any {
	old, _ := from.(map[string]any)
	out := cloneTree(old)
	if out == nil {
		out = map[string]any{}
	}
	for _, name := range []string{"labels", "annotations"} {
		if g.rarely(3) {
			values, _ := out[name].(map[string]any)
			if values = cloneTree(values); values == nil || g.rarely(5) {
				values = map[string]any{}
			}
			values[g.one("a", "b", "app.io/c")] = g.one("x", "y", "")
			if g.rarely(3) {
				delete(values, g.one("a", "b"))
			}
			out[name] = values
		}
	}
	switch g.IntN(12) {
	case 0:
		out["finalizers"] = []any{"example.com/" + g.one("x", "y"), "example.com/z"}[g.IntN(2):]
	case 1:
		delete(out, g.one("finalizers", "labels", "ownerReferences", "annotations"))
	case 2:
		owner := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": g.one("x", "y"), "uid": g.one("x", "y")}
		if g.often(4) {
			owner["controller"] = g.often(5)
		}
		out["ownerReferences"] = []any{owner}
	case 3:
		if g.rarely(4) {
			out[g.one("foo", "labels", "generateName")] = g.anything(1)
		}
	}
	return out
}
