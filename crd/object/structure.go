package object

// Structure calls visit, until it returns false, with each character of a text in JSON
// that begins or ends an object or a list, or separates two values, and with how deep it
// is: the outermost brackets are at 1, and so is what they separate. The text need not be
// valid; nothing is copied.
func Structure(text []byte, visit func(c byte, depth int) bool) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		more := true
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			more = visit(c, depth)
		case c == '}' || c == ']':
			more = visit(c, depth)
			depth--
		case c == ',':
			more = visit(c, depth)
		}
		if !more {
			return
		}
	}
}
