package openapi

import "github.com/wasmgate/wasmgate/crd/object"

// Extent is how deep a text in JSON is nested at the most, and about how many values it has.
func Extent(text []byte) (deep, values int) {
	object.Structure(text, func(c byte, depth int) bool {
		deep = max(deep, depth)
		if c != '}' && c != ']' {
			values++
		}
		return true
	})
	return deep, values
}
