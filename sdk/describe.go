package sdk

import (
	"maps"
	"slices"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// appendDescription is what a module says about itself: the hooks that it has
// functions for, as the SDK exports all of them, and what it converts.
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
	dst = appendConversions(dst)
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

// maxNamedConversions is how many conversions a module names; one that has more says
// nothing of them.
const maxNamedConversions = 1000

// appendConversions names the versions of each kind that are converted, by one
// function or by several.
func appendConversions(dst []byte) []byte {
	start, count := len(dst), 0
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		for _, c := range kinds[name].conversions() {
			if dst = append(dst, ','); count == 0 {
				dst = append(dst, `"conversions":[`...)
			}
			if dst = append(dst, '{'); name != "" {
				dst = append(rawjson.AppendString(append(dst, `"kind":`...), name), ',')
			}
			dst = rawjson.AppendString(append(dst, `"from":`...), c.from)
			dst = append(rawjson.AppendString(append(dst, `,"to":`...), c.to), '}')
			count++
		}
	}
	if count == 0 || count > maxNamedConversions {
		return dst[:start]
	}
	return append(dst, ']')
}
