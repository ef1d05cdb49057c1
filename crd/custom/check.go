package custom

// node is a structural schema in a form that is quick to walk: properties by
// pointer, where the library's maps hold large structs by value.
type node struct {
	props map[string]*node
	// extra is the schema of fields that are not in props. open tells that
	// there is one, even when it says nothing (extra is nil then).
	extra *node
	open  bool
	items *node
	// defaulted are the fields of props that have a default.
	defaulted []string
	nullable  bool
	preserve  bool
	embedded  bool
}

// metaFields are the fields of every object that its schema may leave out.
var metaFields = map[string]bool{"apiVersion": true, "kind": true, "metadata": true}

func compileNode(s *structural) *node {
	if s == nil {
		return nil
	}
	n := &node{
		nullable: s.Nullable,
		preserve: s.XPreserveUnknownFields,
		embedded: s.XEmbeddedResource,
		items:    compileNode(s.Items),
	}
	if s.AdditionalProperties != nil {
		n.open = true
		n.extra = compileNode(s.AdditionalProperties.Structural)
	}
	if len(s.Properties) > 0 {
		n.props = make(map[string]*node, len(s.Properties))
	}
	for name := range s.Properties {
		p := s.Properties[name]
		n.props[name] = compileNode(&p)
		if p.Default.Object != nil {
			n.defaulted = append(n.defaulted, name)
		}
	}
	return n
}

func hasDefaults(s *structural) bool {
	if s == nil {
		return false
	}
	if s.Default.Object != nil || hasDefaults(s.Items) {
		return true
	}
	if s.AdditionalProperties != nil && hasDefaults(s.AdditionalProperties.Structural) {
		return true
	}
	for name := range s.Properties {
		p := s.Properties[name]
		if hasDefaults(&p) {
			return true
		}
	}
	return false
}

// needs is what an object needs done.
type needs uint8

const (
	needsPruning needs = 1 << iota // or dropping nulls, or coercing embedded resources
	needsDefaults
)

// check reports what may change x. It may ask for too much, never for too
// little; the tests hold it to that.
func (n *node) check(x any, root bool) needs {
	var out needs
	switch x := x.(type) {
	case map[string]any:
		if n != nil {
			return n.checkMap(x, root)
		}
		if root || len(x) > 0 {
			return needsPruning
		}
	case []any:
		var items *node
		if n != nil {
			if n.preserve && n.items == nil {
				return 0
			}
			items = n.items
		}
		for _, v := range x {
			out |= items.checkValue(v)
		}
	}
	return out
}

// checkValue checks a value inside of an object.
func (n *node) checkValue(v any) needs {
	if v == nil {
		if n != nil && !n.nullable {
			return needsPruning | needsDefaults
		}
		return 0
	}
	return n.check(v, false)
}

func (n *node) checkMap(x map[string]any, root bool) needs {
	var out needs
	if n.embedded {
		out = needsPruning | needsDefaults
	}
	for _, name := range n.defaulted {
		if _, ok := x[name]; !ok {
			// The default itself may have to be filled in further.
			out |= needsDefaults
		}
	}
	for k, v := range x {
		child, ok := n.props[k]
		if !ok {
			if !n.open {
				if !n.preserve && !(root && metaFields[k]) {
					out |= needsPruning
				}
				continue
			}
			child = n.extra
		}
		out |= child.checkValue(v)
	}
	return out
}
