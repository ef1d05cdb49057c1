package differences

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// made writes a list of requests that are answered otherwise: two without a row of the
// feature list, and one with one.
func made(t *testing.T) (folder string, list *List) {
	t.Helper()
	folder = t.TempDir()
	l := &List{}
	l.set("a", "GET 3", `{"code":1}`, "one", "")
	l.set("a", "GET 4", `{"code":1}`, "one", "")
	l.set("b", "GET 0", `{"code":2}`, "two", "ROW-1")
	l.Reasons[0].Most = 2
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

// listed checks what is listed of a request, "" for nothing.
func listed(t *testing.T, l *List, story, heading, why, reply string) {
	t.Helper()
	if own, ok := l.Of(story, heading); ok != (why != "") || own != (Own{why, reply}) {
		t.Errorf("%s of %s is listed as %v, %v", heading, story, own, ok)
	}
}

func TestListsAreKept(t *testing.T) {
	_, l := made(t)
	listed(t, l, "a", "GET 3", "one", `{"code":1}`)
	listed(t, l, "a", "GET 4", "one", `{"code":1}`)
	listed(t, l, "b", "GET 0", "two", `{"code":2}`)
	listed(t, l, "b", "GET 3", "", "")
	if err := l.Fits("a", []string{"GET 1", "GET 3", "GET 4"}); err != nil {
		t.Error(err)
	}
	if l.Fits("a", []string{"GET 3"}) == nil {
		t.Error("it lists a request that the story does not make")
	}
	if got := strings.Join(l.Stories(), " "); got != "a b" {
		t.Errorf("the stories are %s", got)
	}
	if got := strings.Join(l.Justifying(), " "); got != "ROW-1" {
		t.Errorf("the rows are %s", got)
	}
}

func TestListsOfDifferencesAreChecked(t *testing.T) {
	const good = "why x\nmost 1\n\nstory a\nGET /\n> 200\n"
	long := strings.Repeat("long ", 20)
	for name, text := range map[string]string{
		"no reason":                     strings.Replace(good, "why x\n", "", 1),
		"another reason than its name":  strings.Replace(good, "why x", "why y", 1),
		"no story":                      strings.Replace(good, "story a\n", "", 1),
		"no reply":                      strings.Replace(good, "> 200\n", "", 1),
		"a reply that is none":          strings.Replace(good, "> 200", "> x", 1),
		"a reply that is nowhere":       strings.Replace(good, "> 200", "> 200 [00000000]", 1),
		"another reply than its digest": strings.Replace(good, "> 200", "> 200 [00000000] NotFound: "+long, 1),
		"a request twice":               strings.Replace(good, "most 1", "most 2", 1) + "GET /\n> 201\n",
		"more than it may have":         good + "GET /a\n> 201\n",
		"a bound that was not lowered":  strings.Replace(good, "most 1", "most 2", 1),
		"a bound that is no number":     strings.Replace(good, "most 1", "most x", 1),
		"a bound for what is justified": strings.Replace(good, "most 1", "row ROW-1\nmost 1", 1),
		"a line that says nothing":      strings.Replace(good, "most 1", "most 1\nand", 1),
		"nothing":                       "why x\nmost 0\n",
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "x.txt", good)
			reload(t, folder)
			write(t, folder, "x.txt", text)
			if _, err := Load(folder); err == nil {
				t.Error("it is read")
			}
		})
	}
	folder := t.TempDir()
	write(t, folder, "x.txt", good)
	write(t, folder, "y.txt", strings.Replace(good, "why x", "why y", 1))
	if _, err := Load(folder); err == nil || !strings.Contains(err.Error(), "two reasons") {
		t.Errorf("a request has two reasons: %v", err)
	}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRepliesAreHeldToTheList(t *testing.T) {
	_, l := made(t)
	for name, row := range map[string]struct {
		story, heading   string
		recorded, answer string
		external, wrong  bool
	}{
		"as recorded":                                   {"a", "GET 0", `1`, `1`, false, false},
		"not as recorded":                               {"a", "GET 0", `1`, `2`, false, true},
		"as listed":                                     {"a", "GET 3", `1`, `{"code":1}`, false, false},
		"neither as listed nor as recorded":             {"a", "GET 3", `1`, `3`, false, true},
		"as recorded, and listed":                       {"a", "GET 3", `1`, `1`, false, true},
		"another server as recorded, and listed":        {"a", "GET 3", `1`, `1`, true, false},
		"another server as listed":                      {"a", "GET 3", `1`, `{"code":1}`, true, true},
		"another server neither as recorded nor listed": {"a", "GET 3", `1`, `3`, true, true},
	} {
		c := NewComparison(l)
		c.External = row.external
		if err := c.Reply(row.story, row.heading, "", row.recorded, row.answer); (err != nil) != row.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestListsTakeOverWhatIsAnswered(t *testing.T) {
	folder, l := made(t)
	c := NewComparison(l)
	c.Take = true
	for _, reply := range []struct {
		heading, answer string
	}{{"GET 3", `{"code":0}`}, {"GET 4", `{"code":9}`}} {
		if err := c.Reply("a", reply.heading, "", `{"code":0}`, reply.answer); err != nil {
			t.Error(err)
		}
	}
	if err := c.Reply("a", "GET 5", "", `{"code":0}`, `{"code":9}`); err == nil {
		t.Error("a row that is new is taken without a reason")
	}
	if told := strings.Join(c.Changes(), "\n"); !strings.Contains(told, "a, GET 4\n--- {\"code\":1}\n+++ {\"code\":9}") {
		t.Errorf("told is %s", told)
	}
	if err := c.Save(folder); err != nil {
		t.Fatal(err)
	}
	left := reload(t, folder)
	listed(t, left, "a", "GET 3", "", "")
	listed(t, left, "a", "GET 4", "one", `{"code":9}`)
	listed(t, left, "b", "GET 0", "two", `{"code":2}`)
	if left.Reasons[0].Most != 1 {
		t.Errorf("at most %d may be left", left.Reasons[0].Most)
	}
	if err := c.Reply("a", "GET 4", "", `{"code":9}`, `{"code":9}`); err != nil {
		t.Error(err)
	}
	if err := c.Save(folder); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("a reason without requests has a file: %v, %v", files, err)
	}
}

// A list grows by what a row of the feature list justifies, and by nothing else.
func TestListsGrowByRowsOfTheFeatureList(t *testing.T) {
	for feature, grows := range map[string]bool{"ROW-2": true, "": false} {
		folder, l := made(t)
		c := NewComparison(l)
		c.Take, c.Why, c.Row = true, "three", feature
		if err := c.Reply("c", "GET 7", "", `{"code":1}`, `{"code":2}`); err != nil {
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
