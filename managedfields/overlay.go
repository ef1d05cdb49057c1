package managedfields

import (
	"fmt"
	"strings"
)

// Overlay merges a part of an object, at a version, over a whole one by the
// schema, and owns nothing of it. Fields are never removed, and the part may not
// have what would replace more than it names. Neither tree has managedFields;
// they are not changed, and the result shares memory with both.
func (k *Kind) Overlay(version string, whole, part map[string]any) (map[string]any, error) {
	v := k.versions[k.def.APIVersion(version)]
	if v == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoVersion, version)
	}
	t := v.types()
	if err := t.Validate(part, false); err != nil {
		return nil, fmt.Errorf("failed to convert patch object to typed object: %w", err)
	}
	if found := t.Atomics(part); len(found) > 0 {
		return nil, fmt.Errorf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %s", strings.Join(found, ", "))
	}
	if err := t.Validate(whole, true); err != nil {
		return nil, fmt.Errorf("failed to convert original object to typed object: %w", err)
	}
	out, ok := t.Merge(whole, part).(map[string]any)
	if !ok {
		return nil, errNothingLeft
	}
	return out, nil
}
