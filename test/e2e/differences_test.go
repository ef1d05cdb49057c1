package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/recorded"
	"github.com/wasmgate/wasmgate/test/recorded/differences"
	"github.com/wasmgate/wasmgate/test/story"
)

var (
	take       = flag.Bool("differences.take", false, "take over into the lists of differences what a gateway answers now, and print it")
	takenWhy   = flag.String("differences.why", "", "take over rows that are new, too, for this reason")
	takenRow   = flag.String("differences.row", "", "the row of the feature list that justifies the rows that are new")
	foundThere = flag.String("differences.show", "", "write all that differs, listed or not, to this file")
)

// mostTold bounds the rows of a story that are told at length.
const mostTold = 3

// recordings and lists are where they are from here.
var (
	recordings = filepath.Join("..", "..", recorded.Folder)
	lists      = filepath.Join(recordings, "differences")
)

// table is a table of recordings that a server is compared with, and the list of
// where a gateway answers otherwise.
type table struct {
	*differences.Comparison
	name string
}

// newTable loads the list for a table. What is taken is saved when the test ends.
func newTable(t *testing.T, name string, external bool, stories []story.Story) *table {
	t.Helper()
	list, err := differences.Load(lists)
	if err != nil {
		t.Fatal(err)
	}
	ours := &table{Comparison: differences.NewComparison(list), name: name}
	told := map[string]bool{}
	for _, s := range stories {
		told[ours.story(s)] = true
	}
	for _, listed := range list.Stories() {
		if strings.HasPrefix(listed, name+"/") && !told[listed] {
			t.Fatalf("there is no story %s, for which differences are listed", listed)
		}
	}
	checkJustified(t, list)
	ours.External, ours.Take, ours.Why, ours.Row = external, *take && !external, *takenWhy, *takenRow
	t.Cleanup(func() { ours.finish(t) })
	return ours
}

// story is the name of a story in lists.
func (c *table) story(s story.Story) string { return c.name + "/" + recorded.Name(s) }

// checkJustified looks up the rows of the feature list by which a list departs.
func checkJustified(t *testing.T, list *differences.List) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range list.Justifying() {
		if !slices.ContainsFunc(describedRow.FindAllStringSubmatch(string(doc), -1), func(m []string) bool { return m[1] == row }) {
			t.Errorf("a difference is justified by %s, which docs/conformance.md does not describe", row)
		}
	}
}

// finish tells the counts, and writes what is asked for.
func (c *table) finish(t *testing.T) {
	found, rows := c.Found()
	t.Logf("%d replies, %d are not kube-apiserver's", rows, len(found))
	if c.Take {
		for _, change := range c.Changes() {
			t.Log(change)
		}
		if err := c.Save(lists); err != nil {
			t.Error(err)
		}
	}
	if *foundThere == "" {
		return
	}
	b, err := json.MarshalIndent(found, "", " ")
	if err == nil {
		err = os.WriteFile(*foundThere, b, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// compare compares the replies to a story, to its definition and to its steps, with
// those recorded.
func (c *table) compare(t *testing.T, told story.Story, r recorded.Recording, answers []story.Texts) {
	t.Helper()
	steps := told.Steps
	if told.Definition != "" {
		steps = append([]story.Step{{Method: "define", Body: told.Definition}}, steps...)
	}
	if err := c.Story(c.story(told), r.Headings); err != nil {
		t.Error(err)
	}
	if len(answers) != len(r.Replies) {
		t.Fatalf("%d replies, and %d are recorded", len(answers), len(r.Replies))
	}
	wrong := 0
	for i, answer := range answers {
		want := r.Replies[i]
		if err := c.Reply(c.story(told), r.Headings[i], steps[i], want, answer.Like(want)); err != nil {
			if wrong++; wrong <= mostTold {
				t.Errorf("%s\n%v", r.Headings[i], err)
			}
		}
	}
	if wrong > mostTold {
		t.Errorf("%d replies are wrong", wrong)
	}
}

// tellAll tells stories and compares the replies with the recordings of a table.
func tellAll(t *testing.T, stories []story.Story, name string) {
	t.Helper()
	s := harness.Shared(t)
	tellAllVia(t, s, newTable(t, name, s.External, stories), stories, func(s story.Send) story.Send { return s })
}

// tellAllVia does so to a server, whose requests and replies via may change.
func tellAllVia(t *testing.T, s *harness.Server, c *table, stories []story.Story, via func(story.Send) story.Send) {
	t.Helper()
	for _, told := range stories {
		t.Run(told.Name, func(t *testing.T) {
			t.Parallel()
			c.tell(t, told, via(sender(s.API(t))), story.TextsOf)
		})
	}
}

// tell tells a story and compares texts of the replies with its recording.
func (c *table) tell(t *testing.T, told story.Story, send story.Send, texts func([]story.Reply) ([]story.Texts, error)) {
	t.Helper()
	want, err := recorded.Load(recordings, c.name, told)
	if err != nil {
		t.Fatal(err)
	}
	replies, err := told.Tell(context.Background(), send)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := texts(replies)
	if err != nil {
		t.Fatal(err)
	}
	c.compare(t, told, want, answers)
}
