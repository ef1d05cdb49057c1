package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sample is a package whose tests do not notice everything.
const sampled = `package sample

type two [1 + 1]int // where no call may stand

const more = 1 + 1

func Big(n int) bool { return n > 10 && n != 13 || !(n > -5) }

func Next(n int) int { return n + 1 }

func Last(list []int) int { return list[len(list) - 1] }

func Pass(err error) error {
	if err != nil {
		return err
	}
	return nil
}

func Sum(list []int) (sum int) {
	for _, n := range list {
		if n <= 0 {
			continue
		}
		sum += n
	}
	return sum
}

func Said() bool { return "true" == "a" }

func Both(a, b bool) bool {
	return a &&
		b
}
`

const sampledTests = `package sample

import ("errors"; "testing")

func TestAll(t *testing.T) {
	if Big(10) || !Big(11) || Big(13) || !Big(-5) { t.Error("big") }
	if Next(1) != 2 || Last([]int{4, 5}) != 5 { t.Error("next") }
	if Pass(nil) != nil { t.Error("pass") }
	if Sum([]int{1, 2}) != 3 { t.Error("sum") }
	if Both(true, false) { t.Error("both") }
	_ = errors.New
}
`

func written(t *testing.T, files map[string]string) {
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func told(t *testing.T, o options) (survived []string, all string) {
	t.Helper()
	var out bytes.Buffer
	o.out, o.slow = &out, time.Minute
	if o.only == nil {
		o.only = regexp.MustCompile("")
	}
	if err := o.mutate(t.Context(), []string{"."}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, l := range lines {
		if _, short, ok := strings.Cut(l, "/sample.go:"); ok {
			lines[i] = short
		}
	}
	all, lines = lines[len(lines)-1], lines[:max(0, len(lines)-2)]
	slices.Sort(lines)
	return lines, all
}

func TestWhatTestsDoNotNoticeIsTold(t *testing.T) {
	written(t, map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "sample.go": sampled, "sample_test.go": sampledTests})
	got, all := told(t, options{count: 100})
	want := []string{
		"14: != in if err != nil {", // no error is passed on
		"15: return err in return err",
		"22: <= in if n <= 0 {", // nothing is none, or left out
		"23: continue in continue",
	}
	if !slices.Equal(got, want) || all != "9 of 13 noticed" {
		t.Errorf("%s; survivors:\n%s\nwant\n%s", all, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if text, err := os.ReadFile("sample.go"); err != nil || string(text) != sampled {
		t.Errorf("the file has changed: %v", err)
	}
	if got, all := told(t, options{count: 100, only: regexp.MustCompile(`sample\.go:15$`)}); !slices.Equal(got, want[1:2]) || all != "0 of 1 noticed" {
		t.Errorf("of one line: %v, %s", got, all)
	}
}

func TestPackagesThatCannotBeJudgedAreLeftOut(t *testing.T) {
	for name, c := range map[string]struct{ tests, want string }{
		"fails":            {"package sample\n\nimport \"testing\"\n\nfunc TestAll(t *testing.T) { t.Fatal(Big(1)) }\n", "do not pass within"},
		"does not compile": {"package sample\n\nvar x int = \"\"\n", "does not compile"},
	} {
		t.Run(name, func(t *testing.T) {
			written(t, map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "sample.go": sampled, "sample_test.go": c.tests})
			var out bytes.Buffer
			o := options{count: 3, only: regexp.MustCompile(""), slow: time.Minute, out: &out}
			if err := o.mutate(t.Context(), []string{"."}); err != nil || !strings.Contains(out.String(), c.want) || !strings.HasSuffix(out.String(), "0 of 0 noticed\n") {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (options{count: 1, only: regexp.MustCompile("")}).mutate(gone, []string{"."}); err == nil {
		t.Error("it goes on after its end")
	}
}
