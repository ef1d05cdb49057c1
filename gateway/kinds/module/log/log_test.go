package log

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// ticking makes logs whose clock goes on by a millisecond for each line.
func ticking() *Logs {
	l := New()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l.now = func() time.Time { now = now.Add(time.Millisecond); return now }
	return l
}

func TestLinesComeWithTheirTime(t *testing.T) {
	l := ticking()
	l.Append("a", "one")
	l.Append("b", "other")
	l.Append("a", "two")
	if got := l.Text("a"); got != "2026-01-02T03:04:05.001Z one\n2026-01-02T03:04:05.003Z two\n" {
		t.Errorf("got %q", got)
	}
	l.Forget("a")
	if l.Text("a") != "" || l.Text("none") != "" || !strings.HasSuffix(l.Text("b"), " other\n") {
		t.Errorf("after it was forgotten: %q, %q", l.Text("a"), l.Text("b"))
	}
}

func TestLinesAreHarmless(t *testing.T) {
	l := ticking()
	stamp := len("2026-01-02T03:04:05.001Z ")
	for in, want := range map[string]string{
		"tab\tä日":                      "tab\tä日",
		"\x1b[31mred":                  "\ufffd[31mred",
		"a\nb\r":                       "a\ufffdb\ufffd",
		"\xff":                         "\ufffd",
		"\u202egnp.exe":                "\ufffdgnp.exe",
		strings.Repeat("x", MaxLine):   strings.Repeat("x", MaxLine),
		strings.Repeat("x", MaxLine+1): strings.Repeat("x", MaxLine) + "...",
	} {
		l.Forget("a")
		l.Append("a", in)
		if got := l.Text("a")[stamp:]; got != want+"\n" {
			t.Errorf("%.50q became %.50q", in, got)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	l := ticking()
	for i := range MaxLines + 3 {
		l.Append("short", fmt.Sprint(i))
	}
	got := l.Text("short")
	if n := strings.Count(got, "\n"); n != MaxLines || !strings.Contains(got, " 3\n") || strings.Contains(got, " 2\n") {
		t.Errorf("%d lines, from %.40q", n, got)
	}
	line := strings.Repeat("x", MaxLine)
	for range 100 {
		l.Append("long", line)
	}
	each := MaxLine + len("2026-01-02T03:04:05.001Z \n")
	if n := len(l.Text("long")); n != MaxBytes/each*each {
		t.Errorf("%d bytes", n)
	}
	for i := range MaxModules {
		l.Append(fmt.Sprint("m", i), "x")
	}
	if len(l.modules) != MaxModules || l.Text("short") != "" || l.Text("long") != "" || l.Text("m0") == "" {
		t.Errorf("%d modules, %q", len(l.modules), l.Text("m0"))
	}
	l.Append("m0", "again")
	l.Append("new", "x")
	if l.Text("m1") != "" || l.Text("m0") == "" || l.Text("m2") == "" {
		t.Error("not the one that was silent for longest was forgotten")
	}
}

// Whoever reads while many write sees whole lines only, of each writer one after
// the other, and those of all in the order of their times; and nothing is lost
// within the bound.
func TestManyWriteAndReadAtOnce(t *testing.T) {
	const writers, each, few = 8, 250, MaxLines / 8
	l := New()
	var clock atomic.Int64
	l.now = func() time.Time { return time.UnixMilli(clock.Add(1)) }
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				if n < few {
					l.Append("kept", wrote(w, n))
				}
				l.Append("full", wrote(w, n))
				l.Append("forgotten", wrote(w, n))
				if n%25 != 0 {
					continue
				}
				if got := read(t, l.Text("kept"))[w]; got != (lot{0, min(n+1, few)}) {
					t.Errorf("writer %d wrote line %d, and reads %+v", w, n, got)
				}
				if got := read(t, l.Text("full"))[w]; got.next != n+1 && got.next != 0 { // others may have filled it
					t.Errorf("writer %d wrote line %d to what is full, and reads %+v", w, n, got)
				}
				read(t, l.Text("forgotten"))
				l.Forget("forgotten")
			}
		})
	}
	all.Wait()
	kept, full := read(t, l.Text("kept")), read(t, l.Text("full"))
	for w := range writers {
		if kept[w] != (lot{0, few}) {
			t.Errorf("of writer %d there is %+v, want all of %d", w, kept[w], few)
		}
		if last, ok := full[w]; ok && last.next != each {
			t.Errorf("of writer %d there is %+v of %d: not the last ones", w, last, each)
		}
	}
	if n := strings.Count(l.Text("full"), "\n"); n != MaxLines {
		t.Errorf("%d lines are kept, want %d", n, MaxLines)
	}
}

func wrote(writer, n int) string { return fmt.Sprintf("writer %d line %d", writer, n) }

// lot is what a text has of one writer: its lines from first to next, without
// that.
type lot struct{ first, next int }

// read is what a text has of each writer. It fails the test for a line that
// nobody wrote, or that is not in its place.
func read(t *testing.T, text string) map[int]lot {
	t.Helper()
	lots, before := map[int]lot{}, ""
	for line := range strings.Lines(text) {
		at, what, _ := strings.Cut(line, " ")
		var w, n int
		if _, err := fmt.Sscanf(what, "writer %d line %d\n", &w, &n); err != nil || what != wrote(w, n)+"\n" {
			t.Errorf("nobody wrote %q", line)
			continue
		}
		if at <= before {
			t.Errorf("what was written at %s comes after %s", at, before)
		}
		before = at
		of, known := lots[w]
		if !known {
			of.first = n
		} else if n != of.next {
			t.Errorf("line %d of writer %d comes where %d is due", n, w, of.next)
		}
		of.next = n + 1
		lots[w] = of
	}
	return lots
}

func TestTheLogIsText(t *testing.T) {
	l := ticking()
	l.Append("m", "hello")
	missing := errors.New("not found")
	q := Question{Logs: l, Exists: func(_ context.Context, target resource.Target) error {
		if target.Name != "m" {
			return missing
		}
		return nil
	}}
	resp, err := q.Answer(t.Context(), resource.Target{Name: "m"}, "", nil, resource.WriteOptions{})
	if err != nil || resp != l.Text("m") {
		t.Errorf("%+v, %v", resp, err)
	}
	if _, err := q.Answer(t.Context(), resource.Target{Name: "none"}, "", nil, resource.WriteOptions{}); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
}
