package object

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// quick fails a test whose work is not proportional to its input: each of these
// inputs took minutes when the path of every repeat was built.
func quick(t *testing.T, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it takes too long")
	}
}

func TestDuplicatesCostNoMoreThanTheInput(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	repeats := func(n int, member string) string { return strings.Repeat(member+",", n-1) + member }
	var distinct strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&distinct, `"a%d":1,"a%d":2,`, i, i)
	}
	deep := strings.Repeat(`{"a":`, 9000)
	for name, c := range map[string]struct {
		in   string
		want int
	}{
		"one field many times":     {`{"` + long + `":{` + repeats(350_000, `"a":1`) + `}}`, 1},
		"many fields twice":        {`{"` + long + `":{` + distinct.String() + `"z":1}}`, 1},
		"an object many times":     {`{"` + long + `":{` + repeats(100_000, `"b":{"a":1,"a":2}`) + `}}`, 1},
		"deep":                     {deep + `{` + repeats(350_000, `"a":1`) + `}` + strings.Repeat("}", 9000), 1},
		"an unusual key":           {`{"` + long + `":{"":1,` + repeats(350_000, `"a":1`) + `}}`, 1},
		"half of a surrogate pair": {`{"` + long + `":{"x":"\ud800",` + repeats(350_000, `"a":1`) + `}}`, 1},
		"not UTF-8":                {"{\"" + long + "\":{\"x\":\"\xff\"," + repeats(350_000, `"a":1`) + `}}`, 1},
		"short":                    {`{` + distinct.String() + `"z":1}`, 100},
	} {
		t.Run(name, func(t *testing.T) {
			quick(t, func() {
				_, dups, err := Parse([]byte(c.in))
				if err != nil || len(dups) < c.want || len(dups) > maxDuplicates {
					t.Errorf("%d duplicates, %v", len(dups), err)
				}
				for _, d := range dups {
					if len(d) > 2*maxPathBytes {
						t.Errorf("a path of %d bytes", len(d))
					}
				}
			})
		})
	}
}

func TestNotJSONAmongManyDuplicatesIsRefusedInTime(t *testing.T) {
	quick(t, func() {
		in := `{"` + strings.Repeat("k", 1<<20) + `":{` + strings.Repeat(`"a":1,`, 350_000) + `"b":1e999}}`
		if _, _, err := Parse([]byte(in)); err == nil {
			t.Error("no error")
		}
	})
}

func TestDuplicatesAreNamedOnce(t *testing.T) {
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, `"f%03d":1,"f%03d":2,`, i, i)
	}
	name := strings.Repeat("é", 2000)
	for _, c := range []struct {
		in   string
		want []string
	}{
		{`{"a":1,"a":2,"a":3}`, []string{`duplicate field "a"`}},
		{`{"a":[{"b":{"c":1,"c":2}},{"b":1,"b":2}]}`, []string{`duplicate field "a[0].b.c"`, `duplicate field "a[1].b"`}},
		{`{"b":{"c":1,"c":2},"b":{"c":1,"c":2}}`, []string{`duplicate field "b.c"`, `duplicate field "b"`}},
		{`{"":{"":1,"":2}}`, []string{`duplicate field "."`}},
		{`{"` + name + `":1,"` + name + `":2}`, []string{`duplicate field "` + strings.Repeat("é", 1024) + `..."`}},
		{`{"x` + name + `":1,"x` + name + `":2}`, []string{`duplicate field "x` + strings.Repeat("é", 1023) + `..."`}},
	} {
		_, dups, err := Parse([]byte(c.in))
		if err != nil || strings.Join(dups, "|") != strings.Join(c.want, "|") {
			t.Errorf("%.40s: got %q, %v", c.in, dups, err)
		}
	}
	_, dups, err := Parse([]byte(`{` + many.String() + `"z":0}`))
	if err != nil || len(dups) != 100 || dups[99] != `duplicate field "f099"` {
		t.Errorf("%d duplicates, the last is %q, %v", len(dups), dups[len(dups)-1], err)
	}
}

// A path is cut where it is longer than it may be, and not before.
func TestPathsUpToTheirBoundAreWhole(t *testing.T) {
	field := strings.Repeat("x", maxPathBytes)
	at := func(name string) []step { return []step{{field: name, index: -1}} }
	for _, c := range []struct {
		path        []step
		field, want string
	}{
		{nil, field, field},
		{nil, field + "y", field + "..."},
		{at(field), "f", field + "..."},
		{append(at(field), step{index: 0}), "f", field + "..."},
		{at(field[2:]), "f", field[2:] + ".f"},
		{at(field[1:]), "f", field[1:] + "....."[:4]},
	} {
		if got := pathTo(c.path, c.field); got != c.want {
			t.Errorf("got %d bytes ending in %q, want %d ending in %q", len(got), got[len(got)-6:], len(c.want), c.want[len(c.want)-6:])
		}
	}
}
