package object

import (
	"fmt"
	"strings"
)

// The bounds on what is reported of fields that are there twice. Whoever sends
// them must not make the report cost more than the reading.
const (
	maxDuplicates = 100     // the library stops there too
	maxPathBytes  = 2 << 10 // a longer path is cut
	maxPathWork   = 4 << 20 // bytes of all paths that are built
)

// step is one element of the path to the value being read: a field, or an
// index when that is not negative.
type step struct {
	field string
	index int
}

// duplicates collects the fields that an object has twice. The zero value is
// ready to use.
type duplicates struct {
	found []string
	seen  map[string]bool
	work  int // bytes of the paths that were built
}

// note reports that the object at path has the field twice. The same path may
// come again, when the object itself is there twice.
func (d *duplicates) note(path []step, field string) {
	if len(d.found) >= maxDuplicates || d.work > maxPathWork {
		return
	}
	where := pathTo(path, field)
	d.work += len(where)
	message := fmt.Sprintf("duplicate field %q", where)
	if d.seen[message] {
		return
	}
	if d.seen == nil {
		d.seen = map[string]bool{}
	}
	d.seen[message] = true
	d.found = append(d.found, message)
}

// pathTo looks as the library prints it: a.b[0].c. A long path loses its end.
func pathTo(path []step, field string) string {
	var b strings.Builder
	for n, e := range path {
		if b.Len() > maxPathBytes {
			return cut(b.String())
		}
		if e.index >= 0 {
			fmt.Fprintf(&b, "[%d]", e.index)
			continue
		}
		if n > 0 {
			b.WriteByte('.')
		}
		b.WriteString(e.field[:min(len(e.field), maxPathBytes+1)])
	}
	if len(path) > 0 {
		b.WriteByte('.')
	}
	b.WriteString(field[:min(len(field), maxPathBytes+1)])
	return cut(b.String())
}

func cut(path string) string {
	if len(path) <= maxPathBytes {
		return path
	}
	return strings.ToValidUTF8(path[:maxPathBytes], "") + "..."
}
