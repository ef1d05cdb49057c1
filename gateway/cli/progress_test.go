package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A line of progress never fills the last column, where terminals go to the next line.
func TestProgressFitsTheTerminal(t *testing.T) {
	g := progress{Done: 50, Total: 100}
	whole := "crontabs " + g.String()
	for width := 5; width < 100; width++ {
		var out bytes.Buffer
		(&progressBar{out: &out, title: "crontabs", width: width, now: time.Now}).show(g)
		line, redrawn := strings.CutPrefix(out.String(), "\r")
		line, cleared := strings.CutSuffix(line, "\x1b[K")
		switch {
		case !redrawn || !cleared:
			t.Errorf("%d columns: %q is not redrawn", width, out.String())
		case len(line) >= width:
			t.Errorf("%d columns: %q has %d", width, line, len(line))
		case width > len(whole) && !strings.HasSuffix(line, " "+g.String()):
			t.Errorf("%d columns: %q lacks %q", width, line, g.String())
		case width >= len(whole)+10 && !strings.Contains(line, "[=="):
			t.Errorf("%d columns: %q has no bar", width, line)
		case width <= len(whole) && line != whole[:width-1]:
			t.Errorf("%d columns: %q, want the beginning of %q", width, line, whole)
		}
	}
}

// Where nothing can be redrawn, a line is printed now and then, and only when it says
// something new.
func TestProgressWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	p := &progressBar{out: &out, title: "crontabs", now: func() time.Time { return now }}
	p.show(progress{Done: 1, Total: 4})
	p.show(progress{Done: 2, Total: 4}) // too soon
	now = now.Add(plainEvery)
	p.show(progress{Done: 1, Total: 4}) // nothing new
	now = now.Add(plainEvery)
	p.show(progress{Done: 3, Total: 4})
	p.end()
	if want := "crontabs: 1/4 objects (25%)\ncrontabs: 3/4 objects (75%)\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
