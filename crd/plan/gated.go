package plan

// Drop drops the gated fields of an object, but for those that old has anywhere;
// old is nil for a new object.
func (p *Plan) Drop(obj, old map[string]any) {
	if !p.root.gated {
		return
	}
	had := map[*node]bool{}
	if old != nil {
		p.root.gates(old, func(_ map[string]any, _ string, field *node) { had[field] = true })
	}
	p.root.gates(obj, func(in map[string]any, name string, field *node) {
		if !had[field] {
			delete(in, name)
		}
	})
}

// gates visits the gated fields that v has.
func (n *node) gates(v any, visit func(in map[string]any, name string, field *node)) {
	if !n.gated {
		return
	}
	switch x := v.(type) {
	case map[string]any:
		for name, item := range x {
			f := n.element
			if n.fields != nil {
				f = n.fields[name]
			}
			if f == nil {
				continue
			}
			if n.fields != nil && f.check != nil && f.check.Gated {
				visit(x, name, f)
			}
			inside, _ := item.(map[string]any)
			before := len(inside)
			if f.gates(item, visit); before > 0 && len(inside) == 0 && f.check != nil && f.check.GoesEmpty {
				delete(x, name)
			}
		}
	case []any:
		if n.element != nil {
			for _, item := range x {
				n.element.gates(item, visit)
			}
		}
	}
}
