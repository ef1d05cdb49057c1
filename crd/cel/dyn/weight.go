package dyn

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/lazy"
	"k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

// What a value may consist of that is looked at whole. Parts that are the same value are
// counted wherever they are met.
const (
	maxBytes = 8 << 20
	maxParts = 1 << 20
	deepest  = 12_000
	// maxOpened is for objects, each of which the library makes a tree of with all that is in it.
	maxOpened = 8 * maxParts
)

// Weigh counts the parts of a value, and the bytes of its texts. A part that it has
// several times counts as often. An error is for what has more than [Bounds] lets a step
// look at.
func Weigh(v ref.Val) (parts, bytes int, err error) {
	w, err := weigh(v)
	return w.parts, w.bytes, err
}

// weight is what a value consists of.
type weight struct {
	parts  int
	bytes  int // of its texts
	opened int // the parts of each object in it
}

// takes is what it takes to look at the value.
func (w weight) takes() int { return perPart*max(w.parts-fewParts, 0) + w.bytes/looked }

// weigh counts a value, up to what one may consist of.
func weigh(v ref.Val) (weight, error) {
	var w weight
	err := w.add(v, deepest)
	return w, err
}

func (w *weight) add(v ref.Val, depth int) error {
	w.parts++
	w.bytes += length(v)
	if depth == 0 || w.parts > maxParts || w.bytes > maxBytes || w.opened > maxOpened {
		return fmt.Errorf("a value is too large: it may be %d deep, and have %d parts and %d bytes of texts", deepest, maxParts, maxBytes)
	}
	switch x := v.(type) {
	case *types.Optional:
		if x.HasValue() {
			return w.add(x.GetValue(), depth-1)
		}
	case *mutation.JSONPatchVal:
		w.bytes += len(x.Op) + len(x.Path) + len(x.From)
		if x.Val != nil {
			return w.add(x.Val, depth-1)
		}
	case *dynamic.ObjectVal:
		before := w.parts
		fields, err := fieldsOf(x)
		for name, field := range fields {
			if err == nil {
				w.bytes += len(name)
				err = w.add(field, depth-1)
			}
		}
		w.opened += w.parts - before
		return err
	case *lazy.MapValue: // the variables of a policy, which are made when they are looked at
	case traits.Mapper:
		for it := x.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			if err := w.add(k, depth-1); err != nil {
				return err
			}
			if err := w.add(x.Get(k), depth-1); err != nil {
				return err
			}
		}
	case traits.Lister:
		for it := x.Iterator(); it.HasNext() == types.True; {
			if err := w.add(it.Next(), depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldsOf are the fields of an object that an expression has made. The library hands them
// out as a tree only, which may be larger than all memory.
func fieldsOf(v *dynamic.ObjectVal) (map[string]ref.Val, error) {
	field := reflect.ValueOf(v).Elem().FieldByName("fields")
	if !field.IsValid() || field.Type() != reflect.TypeFor[map[string]ref.Val]() {
		return nil, errors.New("an object cannot be looked into: the library has another form of it")
	}
	return *reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Interface().(*map[string]ref.Val), nil
}
