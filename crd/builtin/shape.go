package builtin

import (
	"maps"

	"github.com/wasmgate/wasmgate/crd/object"
)

// shape makes trees what the Go type T can hold: unknown fields go, values of
// a wrong type are errors, and what JSON always prints of T is there.
type shape[T any] struct {
	defaults func(obj map[string]any)
}

// FromClient implements [crd.Shape].
func (s *shape[T]) FromClient(obj map[string]any, strict bool) ([]string, error) {
	var unknown []string
	var err error
	if managed := object.Detach(obj); managed != nil {
		defer object.SetManaged(obj, managed)
	}
	typed := new(T)
	if strict {
		unknown, err = object.DecodeTyped(obj, typed)
	} else {
		err = fromJSON(obj, typed)
	}
	if err != nil {
		return nil, err
	}
	if err := replace(obj, typed); err != nil {
		return nil, err
	}
	s.fill(obj)
	return unknown, nil
}

// FromStorage implements [crd.Shape]. What the codec decoded has been through
// the Go type already, so only defaults are left to do.
func (s *shape[T]) FromStorage(obj map[string]any) error {
	s.fill(obj)
	return nil
}

// Settled leaves it to the codec, which is what changes objects.
func (s *shape[T]) Settled(map[string]any) bool { return false }

// FromMerge implements [crd.Shape].
func (s *shape[T]) FromMerge(obj map[string]any) error {
	_, err := s.FromClient(obj, false)
	return err
}

// FromConversion implements [crd.Shape].
func (s *shape[T]) FromConversion(obj map[string]any) error {
	if managed := object.Detach(obj); managed != nil {
		defer object.SetManaged(obj, managed)
	}
	typed := new(T)
	if err := fromJSON(obj, typed); err != nil {
		return err
	}
	return replace(obj, typed)
}

func (s *shape[T]) fill(obj map[string]any) {
	if s.defaults != nil {
		s.defaults(obj)
	}
}

func replace(obj map[string]any, typed any) error {
	tree, err := toTree(typed)
	if err != nil {
		return err
	}
	clear(obj)
	maps.Copy(obj, tree)
	return nil
}
