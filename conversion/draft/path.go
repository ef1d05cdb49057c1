package draft

import (
	"encoding/json"
	"regexp"
	"strings"
)

// item is the step to any item of a list, or to any value of a map.
const item = "*"

var plain = regexp.MustCompile(`^[^.\[\]*"\\]+$`)

// path is how rules write steps.
func path(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		switch {
		case s == item:
			b.WriteString("[*]")
		case !plain.MatchString(s):
			text, _ := json.Marshal(s)
			b.WriteString("[" + string(text) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// below is a place in a place.
func below(steps []string, name string) []string {
	return append(steps[:len(steps):len(steps)], name)
}

// beside is another field at the same place.
func beside(steps []string, name string) []string {
	return below(steps[:len(steps)-1], name)
}
