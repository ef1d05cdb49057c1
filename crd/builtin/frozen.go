package builtin

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateKey checks one key of a data field.
func validateKey(path *field.Path, key string) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(path.Key(key), key, msg))
	}
	return errs
}

// part is a field of an object and whether it is as it was.
type part struct {
	name string
	same bool
}

// validateFrozen checks an object that may have been made immutable.
func validateFrozen(now, before *bool, parts ...part) field.ErrorList {
	if before == nil || !*before {
		return nil
	}
	const message = "field is immutable when `immutable` is set"
	var errs field.ErrorList
	if now == nil || !*now {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), message))
	}
	for _, p := range parts {
		if !p.same {
			errs = append(errs, field.Forbidden(field.NewPath(p.name), message))
		}
	}
	return errs
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
