package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/schema"
)

// Library is what is said of Go types. What it has found out of a type is kept
// and shared by all kinds that have the type in them.
type Library struct {
	types map[string]Additions

	mu    sync.Mutex
	plans map[reflect.Type]*node
}

// NewLibrary makes a library of additions by Go type: group and version of its
// package and the type's name, as "core/v1.Container".
func NewLibrary(types map[string]Additions) *Library {
	return &Library{types: types, plans: map[reflect.Type]*node{}}
}

// Plan is what is said of the objects of one kind. It is immutable.
type Plan struct {
	// ChangesFirst tells what is wrong with a change of a value before what is wrong
	// with the value, where it is. Else all of a change comes last.
	ChangesFirst bool

	root *node
}

// node is what is said of the values at one place. Nodes of types are shared.
type node struct {
	fields  map[string]*node // of a struct
	order   []string         // those in which there is something to do
	filling []string         // those in which there is a default
	element *node            // of a list or map
	list    bool
	filled  []defaulted
	check   *checker
	// busy tells that there is something to do here or below, fills that there is a
	// default, computes that one is an expression, and gated that there are gated
	// fields.
	busy, fills, computes, gated bool
}

// Plan finds out what is to be done with objects of Go type t, of which own is
// said besides what the library says of the types in it. It fails when a path
// does not exist.
func (l *Library) Plan(t reflect.Type, own Additions) (*Plan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	layer := &layer{}
	for path, a := range own {
		if err := layer.add(path, a); err != nil {
			return nil, err
		}
	}
	n, err := l.node(indirect(t), layer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", schema.Name(t), err)
	}
	return &Plan{root: n}, nil
}

// Check compiles all expressions of the plan, and returns what is wrong.
func (p *Plan) Check() []error {
	var errs []error
	seen := map[*node]bool{}
	var walk func(n *node)
	walk = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		for _, e := range n.expressions() {
			if err := e.Check(); err != nil {
				errs = append(errs, err)
			}
		}
		errs = append(errs, n.speechless()...)
		walk(n.element)
		for _, child := range n.fields {
			walk(child)
		}
	}
	walk(p.root)
	return errs
}

// speechless are the rules that would show their own text to a client, as they have
// nothing else to say.
func (n *node) speechless() []error {
	var errs []error
	if n.check != nil {
		for _, r := range n.check.rules {
			if r.Message == "" && r.message == nil && !slices.Contains([]string{"Required", "NotFound", "Duplicate"}, r.Reason) {
				errs = append(errs, fmt.Errorf("rule %q has no message", r.Rule.Rule))
			}
		}
	}
	return errs
}

func (n *node) expressions() []*dyn.Expression {
	var out []*dyn.Expression
	for _, d := range n.filled {
		if d.from != nil {
			out = append(out, d.from)
		}
	}
	if n.check != nil {
		for _, r := range n.check.rules {
			out = append(out, r.condition)
			if r.message != nil {
				out = append(out, r.message)
			}
		}
	}
	return out
}

// layer is a tree of additions.
type layer struct {
	own   *Addition
	below map[string]*layer
}

func (l *layer) add(path string, a *Addition) error {
	parts, err := steps(path)
	if err != nil {
		return err
	}
	at := l
	for _, p := range parts {
		if at.below == nil {
			at.below = map[string]*layer{}
		}
		if at.below[p] == nil {
			at.below[p] = &layer{}
		}
		at = at.below[p]
	}
	at.own = a
	return nil
}

func (l *layer) at(step string) *layer {
	if l == nil {
		return nil
	}
	return l.below[step]
}

func (l *layer) empty() bool { return l == nil || l.own == nil && len(l.below) == 0 }

// over lays l over base: what l says counts.
func (l *layer) over(base *layer) *layer {
	switch {
	case l.empty():
		return base
	case base.empty():
		return l
	}
	out := &layer{own: l.own.over(base.own), below: map[string]*layer{}}
	for k, v := range base.below {
		out.below[k] = v
	}
	for k, v := range l.below {
		out.below[k] = v.over(base.below[k])
	}
	return out
}

// node makes the node of values of type t, of which above says more.
func (l *Library) node(t reflect.Type, above *layer) (*node, error) {
	if n := l.plans[t]; n != nil && above.empty() {
		return n, nil
	}
	n := &node{}
	if above.empty() {
		l.plans[t] = n
		n.busy, n.fills, n.computes = true, true, true // as long as it is being made: a type that contains itself
	}
	all := above
	if said := l.types[schema.Name(t)]; said != nil {
		base := &layer{}
		for path, a := range said {
			if err := base.add(path, a); err != nil {
				return nil, fmt.Errorf("%s: %w", schema.Name(t), err)
			}
		}
		all = above.over(base)
	}
	var err error
	if all != nil && all.own != nil {
		if n.check, err = newChecker(all.own, t); err != nil {
			return nil, err
		}
	}
	switch {
	case schema.Leaf(t):
	case t.Kind() == reflect.Struct:
		err = l.structure(n, t, all)
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		step := "{}"
		if n.list = t.Kind() == reflect.Slice; n.list {
			step = "[]"
		}
		if n.element, err = l.node(indirect(t.Elem()), all.at(step)); err != nil {
			return nil, fmt.Errorf("%s: %w", step, err)
		}
	}
	if err == nil {
		err = n.knows(all)
	}
	n.summarize()
	return n, err
}

// summarize notes what there is to do here or below.
func (n *node) summarize() {
	below := slices.Collect(maps.Values(n.fields))
	if n.element != nil {
		below = append(below, n.element)
	}
	n.busy = n.check != nil || len(n.filled) > 0
	n.fills = len(n.filled) > 0
	n.computes = slices.ContainsFunc(n.filled, func(d defaulted) bool { return d.from != nil })
	n.gated = false
	for _, b := range below {
		n.busy, n.fills, n.computes = n.busy || b.busy, n.fills || b.fills, n.computes || b.computes
		n.gated = n.gated || b.gated || b != n.element && b.check != nil && b.check.Gated
	}
}

func (l *Library) structure(n *node, t reflect.Type, all *layer) error {
	n.fields = map[string]*node{}
	for _, f := range schema.Fields(t) {
		below := all.at(f.Name)
		child, err := l.node(indirect(f.Type), below)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		n.fields[f.Name] = child
		if child.busy {
			n.order = append(n.order, f.Name)
		}
		if child.fills {
			n.filling = append(n.filling, f.Name)
		}
		if below != nil && below.own != nil {
			if d := newDefaulted(f.Name, below.own); d != nil {
				d.blank = f.Type.Kind() == reflect.Pointer || f.Type == reflect.TypeFor[intstr.IntOrString]()
				n.filled = append(n.filled, *d)
			}
		}
	}
	return nil
}

// knows checks that everything that is said is said of something.
func (n *node) knows(all *layer) error {
	if all == nil {
		return nil
	}
	for step := range all.below {
		if isElement(step) && n.element == nil || !isElement(step) && n.fields[step] == nil {
			return fmt.Errorf("there is no %q", step)
		}
	}
	return nil
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
