package builtin

import (
	"maps"
	"reflect"

	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/gotype"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/quantity"
)

// shape makes trees what a Go type can hold: unknown fields go, values of
// a wrong type are errors, and what JSON always prints of it is there.
type shape struct {
	fresh func() object.GoObject
	of    *gotype.Type // of what is fresh
	// sent completes what a client sent, before defaults; nil does nothing.
	sent     func(obj map[string]any)
	defaults func(obj map[string]any) error
}

// goType is what is known of the type of what fresh makes.
func goType(fresh func() object.GoObject) *gotype.Type { return gotype.Of(reflect.TypeOf(fresh())) }

// FromClient implements [crd.Shape].
func (s *shape) FromClient(obj map[string]any, strict bool) ([]string, error) {
	var unknown []string
	var err error
	if managed := object.Detach(obj); managed != nil {
		defer object.SetManaged(obj, managed)
	}
	if !s.of.Complete(obj) {
		if unknown, err = s.read(obj, strict); err != nil {
			return nil, err
		}
	}
	if s.sent != nil {
		s.sent(obj)
	}
	return unknown, s.fill(obj)
}

// read makes of a tree what the Go type makes of it.
func (s *shape) read(obj map[string]any, strict bool) (unknown []string, err error) {
	typed := s.fresh()
	if strict {
		if err := quantity.CheckTree(obj, reflect.TypeOf(typed)); err != nil {
			return nil, err
		}
		unknown, err = object.DecodeTyped(obj, typed)
	} else {
		err = fromJSON(obj, typed)
	}
	if err != nil {
		return nil, err
	}
	quantity.RoundUp(typed)
	return unknown, replace(obj, typed)
}

// FromStorage implements [crd.Shape]. What the codec decoded has been through
// the Go type already, so only defaults are left to do.
func (s *shape) FromStorage(obj map[string]any) error {
	return s.fill(obj)
}

// Canonical leaves it to the codec, which is what changes objects.
func (s *shape) Canonical(map[string]any) bool { return false }

// FromMerge implements [crd.Shape].
func (s *shape) FromMerge(obj map[string]any) error {
	object.WholeIntegers(obj)
	_, err := s.FromClient(obj, false)
	return err
}

// FromConversion implements [crd.Shape].
func (s *shape) FromConversion(obj map[string]any) error {
	if managed := object.Detach(obj); managed != nil {
		defer object.SetManaged(obj, managed)
	}
	if s.of.Complete(obj) {
		return nil
	}
	typed := s.fresh()
	if err := fromJSON(obj, typed); err != nil {
		return err
	}
	return replace(obj, typed)
}

func (s *shape) fill(obj map[string]any) error {
	if s.defaults == nil {
		return nil
	}
	return s.defaults(obj)
}

func replace(obj map[string]any, typed any) error {
	tree, err := object.FromTyped(typed)
	if err != nil {
		return err
	}
	clear(obj)
	maps.Copy(obj, tree)
	return nil
}

// fromJSON reads a tree that anybody may have written. It goes through JSON,
// because clients match on the errors of that reader.
func fromJSON(obj map[string]any, into any) error {
	if err := quantity.CheckTree(obj, reflect.TypeOf(into)); err != nil {
		return err
	}
	data, err := object.EncodeTyped(obj)
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(data, into)
}
