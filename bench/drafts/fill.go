package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

// item is the step to any item of a list, or to any value of a map; key is the only key
// that maps have here.
const (
	item = "[*]"
	key  = "anykey"
)

// maxDepth is how deep objects are filled, and maxVariants how many values of an enum are tried.
const (
	maxDepth    = 24
	maxVariants = 12
)

// node is a place in objects.
type node struct {
	path   string
	s      *schema
	up     *node
	name   string
	needed bool
	below  []*node
	// variants are the values that a leaf is given in turn.
	variants []any
}

// plant makes the tree of a schema; the leaves are added to all.
func plant(n *node, depth int, all *[]*node) {
	switch s := n.s; {
	case depth > maxDepth:
		return
	case len(s.Properties) > 0:
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if depth == 0 && (name == "apiVersion" || name == "kind" || name == "metadata") {
				continue
			}
			one := s.Properties[name]
			n.grow(name, &one, slices.Contains(s.Required, name), depth, all)
		}
		return
	case s.Items != nil && s.Items.Schema != nil:
		n.grow(item, s.Items.Schema, true, depth, all)
		return
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		n.grow(item, s.AdditionalProperties.Schema, true, depth, all)
		return
	}
	*all = append(*all, n)
}

func (n *node) grow(name string, s *schema, needed bool, depth int, all *[]*node) {
	child := &node{path: join(n.path, name), s: s, up: n, name: name, needed: needed}
	n.below = append(n.below, child)
	plant(child, depth+1, all)
}

func join(path, name string) string {
	if path == "" || name == item {
		return path + name
	}
	return path + "." + name
}

// choices are couples of values that a leaf may have, the likeliest first; of those of an
// enum all are one choice.
func choices(n *node, i int) [][]any {
	s := n.s
	if len(s.Enum) > 0 {
		var all []any
		for _, v := range s.Enum[:min(len(s.Enum), maxVariants)] {
			var value any
			if json.Unmarshal(v.Raw, &value) == nil {
				all = append(all, value)
			}
		}
		if len(all) == 1 {
			all = append(all, nil)
		}
		return [][]any{all}
	}
	i = 2*i + 11
	switch {
	case s.Type == "boolean":
		return [][]any{{true, false}}
	case s.XIntOrString:
		return [][]any{{i%80 + 1, i%80 + 2}, {fmt.Sprint(i%80+1, "%"), fmt.Sprint(i%80+2, "%")}}
	case s.Type == "integer" || s.Type == "number":
		low, high := 1.0, 1e6
		if s.Minimum != nil {
			low = max(low, *s.Minimum)
		}
		if s.Maximum != nil {
			high = *s.Maximum
		}
		one := min(max(low, float64(i)), max(low, high-1))
		return [][]any{{one, min(one+1, high)}}
	case s.Type == "string":
		return texts(n, i)
	}
	return [][]any{{map[string]any{"k": fmt.Sprint("v", i)}, map[string]any{"k": fmt.Sprint("v", i+1)}}, {fmt.Sprint("s", i), fmt.Sprint("s", i+1)}, {i, i + 1}}
}

// texts are texts of several forms, those that the schema takes first.
func texts(n *node, i int) [][]any {
	forms := []string{"s%d", "%ds", "2026-03-04T05:%02d:07Z", "%dMi", "%d", "group%d.example/v1", "10.0.0.%d", "10.%d.0.0/16", "https://h%d.example/p", "%dm", "v1.%d.0", "%d%%", "Kind%d"}
	switch {
	case n.name == "apiVersion":
		forms = append([]string{"group%d.example/v1"}, forms...)
	case n.s.Format == "date-time":
		forms = append([]string{"2026-03-04T05:%02d:07Z"}, forms...)
	case n.s.Format == "duration":
		forms = append([]string{"%ds"}, forms...)
	}
	pattern, _ := regexp.Compile(n.s.Pattern)
	var fit, others [][]any
	add := func(one, other string) {
		choice := []any{one, other}
		if pattern == nil || pattern.MatchString(one) && pattern.MatchString(other) {
			fit = append(fit, choice)
			return
		}
		others = append(others, choice)
	}
	for _, form := range forms {
		add(fmt.Sprintf(form, i%50+1), fmt.Sprintf(form, i%50+2))
	}
	add(base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "b%d", i)), base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "b%d", i+1)))
	return append(fit, others...)
}

// object is an object with the leaves that take gives a value, nil for nothing.
func (n *node) object(take func(*node) any) any {
	if len(n.below) == 0 {
		return take(n)
	}
	out := map[string]any{}
	for _, child := range n.below {
		v := child.object(take)
		switch {
		case v == nil:
		case child.name != item:
			out[child.name] = v
		case n.s.Items != nil:
			return []any{v}
		default:
			out[key] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// only takes a leaf's value, and nothing else.
func only(leaf *node, value any) func(*node) any {
	return func(n *node) any {
		if n == leaf {
			return value
		}
		return nil
	}
}

// sparse takes a leaf's value, and of the others what has to be there with it.
func sparse(leaf *node, value any) func(*node) any {
	above := map[*node]bool{}
	for n := leaf; n != nil; n = n.up {
		above[n] = true
	}
	return func(n *node) any {
		if n == leaf {
			return value
		}
		for at := n; !above[at]; at = at.up {
			if !at.needed {
				return nil
			}
		}
		return n.first()
	}
}

// full takes a leaf's value, and those of all others.
func full(leaf *node, value any) func(*node) any {
	return func(n *node) any {
		if n == leaf {
			return value
		}
		return n.first()
	}
}

func (n *node) first() any {
	if len(n.variants) == 0 {
		return nil
	}
	return n.variants[0]
}
