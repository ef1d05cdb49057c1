package accept

import "github.com/wasmgate/wasmgate/crd/object"

// TidyMetadata puts metadata that is well-formed into the exact form that the
// API's own type gives it, which means dropping empty fields. It returns false
// when there is anything it is not sure about; then the library decides (what
// was dropped until then the library would drop too).
func TidyMetadata(m map[string]any) bool {
	for k, v := range m {
		empty, ok := TidyField(k, v)
		if !ok {
			return false
		}
		if empty {
			delete(m, k)
		}
	}
	return true
}

// TidyField tells whether a field of metadata is empty, and whether it is
// well-formed.
func TidyField(name string, v any) (empty, ok bool) {
	if v == nil {
		return true, knownField(name)
	}
	switch name {
	case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion":
		s, ok := v.(string)
		return s == "", ok
	case "generation":
		n, ok := v.(int64)
		return n == 0, ok
	case "deletionGracePeriodSeconds":
		_, ok := v.(int64)
		return false, ok
	case "creationTimestamp", "deletionTimestamp":
		return false, IsTime(v)
	case "labels", "annotations":
		m, ok := v.(map[string]any)
		return len(m) == 0, ok && allStrings(m)
	case "finalizers":
		return tidyList(v, IsString)
	case "ownerReferences":
		return tidyList(v, isOwner)
	case "managedFields":
		_, ok := v.(object.Managed)
		return false, ok
	default:
		return false, false
	}
}

func knownField(name string) bool {
	switch name {
	case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
		"deletionGracePeriodSeconds", "creationTimestamp", "deletionTimestamp", "labels", "annotations",
		"finalizers", "ownerReferences", "managedFields":
		return true
	}
	return false
}

func tidyList(v any, good func(any) bool) (empty, ok bool) {
	list, ok := v.([]any)
	if !ok {
		return false, false
	}
	for _, e := range list {
		if !good(e) {
			return false, false
		}
	}
	return len(list) == 0, true
}

// IsString accepts texts.
func IsString(v any) bool {
	_, ok := v.(string)
	return ok
}

func allStrings(m map[string]any) bool {
	for _, v := range m {
		if !IsString(v) {
			return false
		}
	}
	return true
}

// IsTime accepts times as they are printed.
func IsTime(v any) bool {
	s, ok := v.(string)
	return ok && object.IsTime(s)
}

// isOwner accepts owner references with their four required fields.
func isOwner(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	required := 0
	for k, v := range m {
		switch k {
		case "apiVersion", "kind", "name", "uid":
			required++
			ok = IsString(v)
		case "controller", "blockOwnerDeletion":
			_, ok = v.(bool)
		default:
			return false
		}
		if !ok {
			return false
		}
	}
	return required == 4
}
