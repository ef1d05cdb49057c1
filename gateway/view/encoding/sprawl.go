package encoding

const (
	// wide is how many times its size a text may take once it is indented, and spared is
	// what every text may take: objects as people write them take two or three times.
	wide   = 16
	spared = 64 << 10
)

// sprawls tells that JSON would grow out of all proportion if each of its lines were
// indented by its depth: what is 10,000 levels deep takes 10,000 times as much.
func sprawls(text []byte) bool {
	if len(text)*len(text) < spared { // however deep
		return false
	}
	left, depth, quoted := wide*len(text)+spared, 0, false
	for i := 0; i < len(text) && left > 0; i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			left -= 2 * depth
		case c == '}' || c == ']':
			depth--
			left -= 2 * depth
		case c == ',':
			left -= 2 * depth
		}
	}
	return left <= 0
}
