package modulelog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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

func TestManyWriteAndReadAtOnce(t *testing.T) {
	l := New()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 200 {
				l.Append(fmt.Sprint(i%3), "x")
				_ = l.Text("1")
				l.Forget("2")
			}
		})
	}
	all.Wait()
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
	resp, err := q.Answer(t.Context(), resource.Target{Name: "m"}, "", nil)
	if err != nil || resp.Code != 200 || resp.ContentType != "text/plain; charset=utf-8" || string(resp.Body) != l.Text("m") || q.Verb() != "get" || resp.Headers[0].Value != "nosniff" {
		t.Errorf("%+v, %v", resp, err)
	}
	if _, err := q.Answer(t.Context(), resource.Target{Name: "none"}, "", nil); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
}
