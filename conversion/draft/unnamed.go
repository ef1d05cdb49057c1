package draft

// preserves tells whether a version keeps in an object what its schema does not name.
func preserves(s *schema) bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// unnamed says what becomes of what schemas do not name in an object that both have: a version
// that keeps such has there what the other one names, and with it what that drops.
func unnamed(w *work, at []string, a, b *schema) {
	switch {
	case preserves(a) && preserves(b):
		if namesMore(at, a, b) {
			w.remark(at, "%s names fields in it that %s keeps without a name: those of other types are not valid there", w.to, w.from)
		}
	case preserves(a):
		narrower(w, at, b, w.from, w.to)
	case preserves(b):
		narrower(w, at, a, w.to, w.from)
	}
}

// narrower says what a version does with what only the other one keeps.
func narrower(w *work, at []string, s *schema, keeps, drops string) {
	if isMap(s) {
		w.remark(at, "%s keeps anything in it: values of other types are not valid at %s", keeps, drops)
		return
	}
	w.remark(at, "%s keeps in it what no schema names, and %s drops that", keeps, drops)
}

// namesMore tells whether the second of two schemas names a field that the first does not.
func namesMore(at []string, a, b *schema) bool {
	for name := range b.Properties {
		if _, ok := a.Properties[name]; !ok && (len(at) > 0 || !reserved(name)) {
			return true
		}
	}
	return false
}

// held leaves a field that the other version keeps, too, where it is.
func held(w *work, op Op, version string) {
	if op.Certain {
		return
	}
	op.Why = version + " keeps it there, though its schema does not name it"
	w.after = append(w.after, op)
}
