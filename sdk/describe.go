package sdk

// appendDescription is what a module says about itself: the hooks that it has
// functions for, as the SDK exports all of them.
func appendDescription(dst []byte) []byte {
	dst = append(dst, `{"hooks":[`...)
	first := true
	for _, h := range []struct {
		name string
		has  bool
	}{{"wasmgate_convert", converts()}, {"wasmgate_admit", admits != nil}, {"wasmgate_prioritize", prioritizes != nil}} {
		if !h.has {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		dst, first = append(append(append(dst, '"'), h.name...), '"'), false
	}
	dst = append(dst, ']')
	if configSchema != "" {
		dst = append(append(dst, `,"configSchema":`...), configSchema...)
	}
	return append(dst, '}')
}

// converts tells whether any conversion is registered.
func converts() bool {
	for _, k := range kinds {
		if len(k.steps) > 0 {
			return true
		}
	}
	return false
}
