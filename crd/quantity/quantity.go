// Package quantity owns what has to be known of quantities before they are read:
// reading "1e-2000000000" takes hours and gigabytes, and so does comparing
// "1e2000000000" with anything.
//
// It knows Go types and trees. It must not know definitions, nor what quantities
// mean. Whoever reads what others wrote into Go types with quantities calls it.
package quantity

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wasmgate/wasmgate/crd/schema"
)

const (
	// maxText is how long a quantity may be, in bytes, and maxExponent how far
	// from zero its exponent.
	maxText     = 1000
	maxExponent = 1000
)

// Check refuses a text that costs more to read as a quantity, or to work with,
// than it may. What is no quantity at all is for whoever reads it.
func Check(text string) error {
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		return fmt.Errorf("a quantity has %d bytes, of %d at most", len(text), maxText)
	}
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return nil
	}
	exponent := strings.TrimLeft(text[i+1:], "+-")
	if n, err := strconv.ParseUint(exponent, 10, 64); strings.Trim(exponent, "0123456789") == "" && exponent != "" && (err != nil || n > maxExponent) {
		return fmt.Errorf("the quantity %q has an exponent beyond %d", text, maxExponent)
	}
	return nil
}

// CheckNumber is [Check] of a text that may be no quantity at all: it says nothing
// of one that does not begin with a number.
func CheckNumber(text string) error {
	number := strings.TrimSpace(text)
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		number = number[:i]
	}
	if number = number[:min(len(number), maxText)]; number == "" || strings.Trim(number, "+-.0123456789") != "" {
		return nil
	}
	return Check(text)
}

// CheckTree is [Check] of everything in a tree that becomes a quantity in a value
// of type t. Where the tree is not what the type has it says nothing.
func CheckTree(tree any, t reflect.Type) error { return placesOf(t).check(tree) }

// places are where a type has quantities; nil is for nowhere.
type places struct {
	self   bool
	fields map[string]*places // by the folded name
	each   *places            // of a list, or of a map
}

func (p *places) check(v any) error {
	if p == nil {
		return nil
	}
	switch x := v.(type) {
	case string:
		if p.self {
			return Check(x)
		}
	case []any:
		for _, item := range x {
			if err := p.each.check(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, value := range x {
			at := p.each
			if at == nil {
				at = p.fields[fold(name)]
			}
			if err := at.check(value); err != nil {
				return err
			}
		}
	}
	return nil
}

// fold makes names alike that readers of JSON may take for each other.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

var known sync.Map // of *places, by reflect.Type

func placesOf(t reflect.Type) *places {
	if p, ok := known.Load(t); ok {
		return p.(*places)
	}
	p := find(t, map[reflect.Type]*places{})
	known.Store(t, p)
	return p
}

// find looks where t has quantities. Of a type that contains itself it is assumed
// that it has some.
func find(t reflect.Type, within map[reflect.Type]*places) *places {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[resource.Quantity]() {
		return &places{self: true}
	}
	if schema.Leaf(t) {
		return nil
	}
	p := &places{}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		if p.each = find(t.Elem(), within); p.each == nil {
			return nil
		}
	case reflect.Struct:
		if outer, ok := within[t]; ok {
			return outer
		}
		within[t] = p
		defer delete(within, t)
		p.fields = map[string]*places{}
		for _, f := range schema.Fields(t) {
			if at := find(f.Type, within); at != nil {
				p.fields[fold(f.Name)] = at
			}
		}
		if len(p.fields) == 0 {
			return nil
		}
	default:
		return nil
	}
	return p
}
