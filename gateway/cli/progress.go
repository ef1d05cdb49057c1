package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// plainEvery is how often progress is printed where it cannot be redrawn.
const plainEvery = 2 * time.Second

// maxLeft is the longest estimate that is worth showing.
const maxLeft = 1000 * time.Hour

// progressBar shows how far a migration is: one line that is redrawn on a
// terminal, lines now and then elsewhere.
type progressBar struct {
	out   io.Writer
	title string
	// width is the width of the terminal; 0 when out is none.
	width int
	now   func() time.Time

	printed time.Time
	last    string
}

func newProgressBar(out io.Writer, title string) *progressBar {
	p := &progressBar{out: out, title: title, now: time.Now}
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.width = 80
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		p.width = w
	}
	return p
}

// show draws the progress.
func (p *progressBar) show(g progress) {
	if p.width == 0 {
		if p.now().Sub(p.printed) < plainEvery {
			return
		}
		if line := fmt.Sprintf("%s: %s", p.title, g); line != p.last {
			p.printed, p.last = p.now(), line
			fmt.Fprintln(p.out, line)
		}
		return
	}
	text := g.String()
	line := p.title + " " + text
	if room := min(40, p.width-len(line)-4); room >= 5 {
		line = p.title + " " + bar(g.share(), room) + " " + text
	}
	if len(line) >= p.width {
		line = line[:p.width-1]
	}
	fmt.Fprintf(p.out, "\r%s\x1b[K", line)
}

// end leaves the line to whatever is printed next.
func (p *progressBar) end() {
	if p.width > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func bar(share float64, width int) string {
	full := int(share * float64(width))
	head := ""
	if full < width {
		head = ">"
	}
	return "[" + strings.Repeat("=", full) + head + strings.Repeat(" ", max(0, width-full-len(head))) + "]"
}

// share is the part of the objects that is done, from 0 to 1.
func (g progress) share() float64 {
	if g.Total <= 0 {
		return 0
	}
	return min(1, max(0, float64(g.Done)/float64(g.Total)))
}

// objectsIn says how many objects there are.
func objectsIn(n int64) string { return counted(n, "object") }

// counted says how many there are of something.
func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// String says it in words.
func (g progress) String() string {
	s := fmt.Sprintf("%d/%s (%.0f%%)", g.Done, objectsIn(g.Total), 100*g.share())
	if g.Rate > 0 {
		s += fmt.Sprintf(" %.0f/s", g.Rate)
		left := float64(g.Total-g.Done) / g.Rate
		if left > 0 && left < maxLeft.Seconds() {
			s += " " + (time.Duration(left) * time.Second).String() + " left"
		}
	}
	if g.Pass > 1 {
		s += " checking"
	}
	if g.paused {
		s += " PAUSED"
	}
	if g.Failed > 0 {
		s += fmt.Sprintf(" %d FAILED", g.Failed)
	}
	return s
}
