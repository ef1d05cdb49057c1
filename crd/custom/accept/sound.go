package accept

import "strings"

// maxAnnotations is how many bytes the annotations of an object may have.
const maxAnnotations = 256 << 10

// acceptsNew reports that the metadata of a new object is valid. What is rare
// is left to the library.
func (o *Object) acceptsNew(meta map[string]any) bool {
	for k, v := range meta {
		ok := false
		switch k {
		case "name":
			s, _ := v.(string)
			ok = IsSubdomain(s)
		case "namespace":
			s, _ := v.(string)
			ok = o.namespaced && IsDNSLabel(s)
		case "uid":
			ok = IsString(v)
		default:
			ok = acceptsField(k, v)
		}
		if !ok {
			return false
		}
	}
	_, named := meta["name"]
	_, located := meta["namespace"]
	return named && located == o.namespaced
}

// acceptsChanged reports that metadata is valid after it was another.
func acceptsChanged(meta, was map[string]any) bool {
	for _, k := range [...]string{"name", "namespace", "uid", "creationTimestamp"} {
		if v, ok := meta[k]; ok && !IsString(v) || v != any(was[k]) {
			return false
		}
	}
	for k, v := range was {
		if _, ok := TidyField(k, v); !ok || v == nil || k == "deletionTimestamp" || k == "deletionGracePeriodSeconds" {
			return false
		}
	}
	for k, v := range meta {
		ok := false
		switch k {
		case "name", "namespace", "uid":
			ok = true // as it was
		case "generateName":
			ok = IsString(v)
		case "resourceVersion":
			ok = IsString(v) && v != any("")
		case "finalizers": // of an object that is not being deleted
			_, ok = tidyList(v, IsString)
		default:
			ok = acceptsField(k, v)
		}
		if !ok {
			return false
		}
	}
	generation, _ := meta["generation"].(int64)
	before, _ := was["generation"].(int64)
	_, versioned := meta["resourceVersion"]
	return versioned && generation >= before
}

// acceptsField reports that a field of metadata is valid by itself.
func acceptsField(name string, v any) bool {
	switch name {
	case "resourceVersion":
		return IsString(v)
	case "creationTimestamp":
		return IsTime(v)
	case "generation":
		n, ok := v.(int64)
		return ok && n >= 0
	case "labels":
		return acceptsLabels(v)
	case "annotations":
		return acceptsAnnotations(v)
	case "ownerReferences":
		return acceptsOwners(v)
	}
	return false
}

func acceptsOwners(v any) bool {
	list, ok := v.([]any)
	controllers := 0
	for _, e := range list {
		if !isOwner(e) {
			return false
		}
		owner := e.(map[string]any)
		for _, k := range [...]string{"apiVersion", "kind", "name", "uid"} {
			if owner[k] == any("") {
				return false
			}
		}
		group, version, grouped := strings.Cut(owner["apiVersion"].(string), "/")
		if grouped && (version == "" || strings.Contains(version, "/")) || group == "" || owner["kind"] == any("Event") {
			return false
		}
		if owner["controller"] == any(true) {
			controllers++
		}
	}
	return ok && controllers <= 1
}

func acceptsLabels(v any) bool {
	m, ok := v.(map[string]any)
	for k, v := range m {
		s, isText := v.(string)
		if !isText || !isQualified(k, false) || s != "" && !isNamePart(s) {
			return false
		}
	}
	return ok
}

func acceptsAnnotations(v any) bool {
	m, ok := v.(map[string]any)
	size := 0
	for k, v := range m {
		s, isText := v.(string)
		if !isText || !isQualified(k, true) {
			return false
		}
		size += len(k) + len(s)
	}
	return ok && size <= maxAnnotations
}

// isQualified accepts a name with or without a domain before it, which may be
// in upper case if fold says so.
func isQualified(s string, fold bool) bool {
	if i := strings.IndexByte(s, '/'); i >= 0 {
		domain := s[:i]
		if fold {
			domain = strings.ToLower(domain)
		}
		if !IsSubdomain(domain) {
			return false
		}
		s = s[i+1:]
	}
	return isNamePart(s)
}

// isNamePart accepts up to 63 letters, digits, and dashes, underscores and dots
// between them.
func isNamePart(s string) bool {
	if len(s) == 0 || len(s) > 63 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z':
		case (c == '-' || c == '_' || c == '.') && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return true
}

// IsSubdomain accepts labels with dots between them.
func IsSubdomain(s string) bool {
	if len(s) > 253 {
		return false
	}
	for {
		label, rest, more := strings.Cut(s, ".")
		if !IsDNSLabel(label) {
			return false
		}
		if !more {
			return true
		}
		s = rest
	}
}

// IsDNSLabel accepts up to 63 small letters, digits, and dashes between them.
func IsDNSLabel(s string) bool {
	if len(s) == 0 || len(s) > 63 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case c == '-' && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return true
}
