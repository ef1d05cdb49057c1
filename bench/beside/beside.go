// Package beside owns how answers of two servers are compared. It must not know the
// servers, nor what was asked.
package beside

import (
	"fmt"
	"reflect"
	"slices"
)

// Diff tells where two trees of JSON differ, a line for each place, in order; path is where
// the trees themselves are.
func Diff(path string, want, got any) []string {
	w, ok1 := want.(map[string]any)
	g, ok2 := got.(map[string]any)
	if ok1 && ok2 {
		var out []string
		for k, v := range w {
			if _, there := g[k]; !there {
				out = append(out, fmt.Sprintf("%s.%s: nothing, want %.200v", path, k, v))
				continue
			}
			out = append(out, Diff(path+"."+k, v, g[k])...)
		}
		for k, v := range g {
			if _, there := w[k]; !there {
				out = append(out, fmt.Sprintf("%s.%s: %.200v, want nothing", path, k, v))
			}
		}
		slices.Sort(out)
		return out
	}
	wl, ok1 := want.([]any)
	gl, ok2 := got.([]any)
	if ok1 && ok2 && len(wl) == len(gl) {
		var out []string
		for i := range wl {
			out = append(out, Diff(fmt.Sprintf("%s[%d]", path, i), wl[i], gl[i])...)
		}
		return out
	}
	if reflect.DeepEqual(want, got) {
		return nil
	}
	return []string{fmt.Sprintf("%s:\n     got  %.900v\n     want %.900v", path, got, want)}
}
