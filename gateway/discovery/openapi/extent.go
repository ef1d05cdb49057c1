package openapi

// extent is how deep a text in JSON is nested at the most, and about how many values it has.
func extent(text []byte) (deep, values int) {
	at, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			at++
			deep = max(deep, at)
			values++
		case c == '}' || c == ']':
			at--
		case c == ',':
			values++
		}
	}
	return deep, values
}
