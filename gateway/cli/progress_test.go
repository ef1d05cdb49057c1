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
		case (width >= len(whole)+9) != strings.Contains(line, "[=="):
			t.Errorf("%d columns: %q has no bar, or one too short to see", width, line)
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

// What is told of progress, and how long it takes yet where that can be told.
func TestWhatProgressSays(t *testing.T) {
	for want, g := range map[string]progress{
		"0/0 objects (0%)":                       {},
		"1/1 object (100%)":                      {Done: 1, Total: 1},
		"50/100 objects (50%)":                   {Done: 50, Total: 100},
		"50/100 objects (50%) 5/s 10s left":      {Done: 50, Total: 100, Rate: 5},
		"100/100 objects (100%) 5/s":             {Done: 100, Total: 100, Rate: 5},
		"101/100 objects (100%) 5/s":             {Done: 101, Total: 100, Rate: 5},
		"0/1000000000 objects (0%) 1/s":          {Total: 1_000_000_000, Rate: 1},
		"1/4 objects (25%) checking":             {Done: 1, Total: 4, Pass: 2},
		"1/3 objects (33%)":                      {Done: 1, Total: 3, Pass: 1},
		"1/4 objects (25%) PAUSED 1 FAILED":      {Done: 1, Total: 4, Failed: 1, paused: true},
		"2/4 objects (50%) 1/s 2s left checking": {Done: 2, Total: 4, Rate: 1, Pass: 3},
	} {
		if got := g.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
