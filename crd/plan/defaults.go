package plan

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
)

// defaulted is a field that has a default.
type defaulted struct {
	name  string
	value any
	from  *dyn.Expression
	// always: from counts also when there is a value.
	always bool
	// blank: an empty text is a value, not none.
	blank bool
}

// lacks tells whether a field has no value: an empty text counts as none, as it
// does wherever Kubernetes has a default for one, but where the Go type tells none
// from it.
func (d *defaulted) lacks(v any) bool { return v == nil || v == "" && !d.blank }

func newDefaulted(name string, a *Addition) *defaulted {
	switch {
	case a.Compute != "":
		return &defaulted{name: name, from: dyn.Bounded(a.Compute), always: true}
	case a.DefaultFrom != "":
		return &defaulted{name: name, from: dyn.Bounded(a.DefaultFrom)}
	case a.Default != nil:
		return &defaulted{name: name, value: tree(a.Default)}
	}
	return nil
}

// tree makes a value from a file what objects are made of.
func tree(v any) any {
	switch x := v.(type) {
	case float64:
		if n := int64(x); float64(n) == x {
			return n
		}
	case map[string]any:
		for k, item := range x {
			x[k] = tree(item)
		}
	case []any:
		for i, item := range x {
			x[i] = tree(item)
		}
	}
	return v
}

// Default fills in the defaults of an object, from the outside in. Fields whose
// default is an expression follow once everything else around them is there.
func (p *Plan) Default(obj map[string]any) error { return p.root.fill(obj, nil) }

func (n *node) fill(v any, up []any) error {
	if !n.fills {
		return nil
	}
	switch x := v.(type) {
	case map[string]any:
		if n.fields != nil {
			return n.fillFields(x, up)
		}
		if n.element != nil {
			for _, item := range x {
				if err := n.element.fill(item, up); err != nil {
					return err
				}
			}
		}
	case []any:
		if n.element == nil {
			return nil
		}
		for _, item := range x {
			if err := n.element.fill(item, up); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *node) fillFields(obj map[string]any, up []any) error {
	for i := range n.filled {
		if d := &n.filled[i]; d.from == nil && d.lacks(obj[d.name]) {
			obj[d.name] = runtime.DeepCopyJSONValue(d.value)
		}
	}
	var below []any // which nobody but an expression asks for
	if n.computes {
		below = around(obj, up)
	}
	for _, name := range n.filling {
		if child, ok := obj[name]; ok {
			if err := n.fields[name].fill(child, below); err != nil {
				return err
			}
		}
	}
	for i := range n.filled {
		d := &n.filled[i]
		if d.from == nil || !d.always && !d.lacks(obj[d.name]) {
			continue
		}
		v, leave, err := d.from.Maybe(dyn.Variables{Self: obj, Up: up})
		switch {
		case err != nil:
			return err
		case leave:
			continue
		case v == nil:
			delete(obj, d.name)
			continue
		}
		obj[d.name] = v
		if err := n.fields[d.name].fill(v, below); err != nil {
			return err
		}
	}
	return nil
}

// around is what is around the fields of obj, the nearest first.
func around(obj map[string]any, up []any) []any {
	out := make([]any, 0, len(up)+1)
	return append(append(out, obj), up...)
}
