package encoding

import "github.com/wasmgate/wasmgate/crd/object"

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
	left := wide*len(text) + spared
	object.Structure(text, func(_ byte, depth int) bool {
		left -= 2 * depth
		return left > 0
	})
	return left <= 0
}
