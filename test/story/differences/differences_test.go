package differences

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// made writes a list of rows that differ: two without a row of the feature list, and one
// with one.
func made(t *testing.T) (folder string, list *List) {
	t.Helper()
	folder = t.TempDir()
	l := &List{Most: 2, replies: map[string]string{}}
	l.set("a", 3, `{"code":1}`, "one", "")
	l.set("a", 4, `{"code":1}`, "one", "")
	l.set("b", 0, `{"code":2}`, "two", "ROW-1")
	if err := l.Save(folder); err != nil {
		t.Fatal(err)
	}
	return folder, reload(t, folder)
}

func reload(t *testing.T, folder string) *List {
	t.Helper()
	l, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestListsAreKept(t *testing.T) {
	_, l := made(t)
	if want := map[int]Own{3: {"one", `{"code":1}`}, 4: {"one", `{"code":1}`}}; !maps.Equal(l.Of("a"), want) {
		t.Errorf("a has %v", l.Of("a"))
	}
	if want := map[int]Own{0: {"two", `{"code":2}`}}; !maps.Equal(l.Of("b"), want) {
		t.Errorf("b has %v", l.Of("b"))
	}
	if err := l.Fits(map[string]int{"a": 5, "b": 1}); err != nil {
		t.Error(err)
	}
	for _, steps := range []map[string]int{{"a": 4, "b": 1}, {"a": 5}} {
		if l.Fits(steps) == nil {
			t.Errorf("it fits stories of %v steps", steps)
		}
	}
}

func TestListsOfDifferencesAreChecked(t *testing.T) {
	x := Digest(`1`)
	for name, text := range map[string]string{
		"a count that is wrong":          `{"most":1,"differences":[{"why":"x","count":2,"rows":{"a":"1:` + x + `"}}]}`,
		"no reason":                      `{"most":1,"differences":[{"count":1,"rows":{"a":"1:` + x + `"}}]}`,
		"no range":                       `{"most":1,"differences":[{"why":"x","count":1,"rows":{"a":"3-1:` + x + `"}}]}`,
		"no number":                      `{"most":1,"differences":[{"why":"x","count":1,"rows":{"a":"b:` + x + `"}}]}`,
		"an endless range":               `{"most":1,"differences":[{"why":"x","count":1,"rows":{"a":"1-99999999:` + x + `"}}]}`,
		"no digest":                      `{"most":1,"differences":[{"why":"x","count":1,"rows":{"a":"1"}}]}`,
		"a digest without its reply":     `{"most":1,"differences":[{"why":"x","count":1,"rows":{"a":"1:00000000"}}]}`,
		"a row twice":                    `{"most":2,"differences":[{"why":"x","count":2,"rows":{"a":"1:` + x + ` 1:` + x + `"}}]}`,
		"a row for two reasons":          `{"most":2,"differences":[{"why":"x","count":1,"rows":{"a":"1:` + x + `"}},{"why":"y","count":1,"rows":{"a":"1:` + x + `"}}]}`,
		"more rows than it may have":     `{"most":0,"differences":[{"why":"x","count":1,"rows":{"a":"1:` + x + `"}}]}`,
		"a bound that was not lowered":   `{"most":2,"differences":[{"why":"x","count":1,"rows":{"a":"1:` + x + `"}}]}`,
		"a field that a list has not":    `{"most":1,"differences":[{"why":"x","count":1,"rows":{"a":"1:` + x + `"},"and":1}]}`,
		"a bound for what is justified":  `{"most":1,"differences":[{"why":"x","row":"ROW-1","count":1,"rows":{"a":"1:` + x + `"}}]}`,
		"a reply with another digest":    `{"most":0,"differences":[]}`,
		"no JSON, but something like it": `{"most":0,`,
	} {
		t.Run(name, func(t *testing.T) {
			folder, replies := t.TempDir(), `{"`+x+`": 1}`
			if strings.HasPrefix(name, "a reply with another") {
				replies = `{"` + x + `": 2}`
			}
			for file, text := range map[string]string{listFile: text, repliesFile: replies} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Load(folder); err == nil {
				t.Error("it is read")
			}
		})
	}
}

func TestRepliesAreHeldToTheList(t *testing.T) {
	_, l := made(t)
	for name, row := range map[string]struct {
		story            string
		row              int
		recorded, answer string
		external, wrong  bool
	}{
		"as recorded":                                   {"a", 0, `1`, `1`, false, false},
		"not as recorded":                               {"a", 0, `1`, `2`, false, true},
		"as listed":                                     {"a", 3, `1`, `{"code":1}`, false, false},
		"neither as listed nor as recorded":             {"a", 3, `1`, `3`, false, true},
		"as recorded, and listed":                       {"a", 3, `1`, `1`, false, true},
		"another server as recorded, and listed":        {"a", 3, `1`, `1`, true, false},
		"another server as listed":                      {"a", 3, `1`, `{"code":1}`, true, true},
		"another server neither as recorded nor listed": {"a", 3, `1`, `3`, true, true},
	} {
		c := NewComparison(l)
		c.External = row.external
		if err := c.Reply(row.story, row.row, "", row.recorded, row.answer); (err != nil) != row.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestListsTakeOverWhatIsAnswered(t *testing.T) {
	folder, l := made(t)
	c := NewComparison(l)
	c.Take = true
	for _, reply := range []struct {
		row    int
		answer string
	}{{3, `{"code":0}`}, {4, `{"code":9}`}} {
		if err := c.Reply("a", reply.row, "", `{"code":0}`, reply.answer); err != nil {
			t.Error(err)
		}
	}
	if err := c.Reply("a", 5, "", `{"code":0}`, `{"code":9}`); err == nil {
		t.Error("a row that is new is taken without a reason")
	}
	if told := strings.Join(c.Changes(), "\n"); !strings.Contains(told, "a, row 4\n--- {\"code\":1}\n+++ {\"code\":9}") {
		t.Errorf("told is %s", told)
	}
	if err := c.Save(folder); err != nil {
		t.Fatal(err)
	}
	left := reload(t, folder)
	if want := map[int]Own{4: {"one", `{"code":9}`}}; left.Most != 1 || !maps.Equal(left.Of("a"), want) || len(left.Of("b")) != 1 {
		t.Errorf("left are %v and %v of at most %d", left.Of("a"), left.Of("b"), left.Most)
	}
}

// A list grows by what a row of the feature list justifies, and by nothing else.
func TestListsGrowByRowsOfTheFeatureList(t *testing.T) {
	for feature, grows := range map[string]bool{"ROW-2": true, "": false} {
		folder, l := made(t)
		c := NewComparison(l)
		c.Take, c.Why, c.Row = true, "three", feature
		if err := c.Reply("c", 7, "", `1`, `2`); err != nil {
			t.Error(err)
		}
		if err := c.Save(folder); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(folder); (err == nil) != grows {
			t.Errorf("with the row %q: %v", feature, err)
		}
	}
}
