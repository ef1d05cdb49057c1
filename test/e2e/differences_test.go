package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/differences"
)

var (
	take       = flag.Bool("differences.take", false, "take over into the lists of differences what a gateway answers now, and print it")
	takenWhy   = flag.String("differences.why", "", "take over rows that are new, too, for this reason")
	takenRow   = flag.String("differences.row", "", "the row of the feature list that justifies the rows that are new")
	foundThere = flag.String("differences.show", "", "write all that differs, listed or not, to this file")
)

// mostTold bounds the rows of a story that are told at length.
const mostTold = 3

// mostQuoted bounds what is told of a request, in bytes.
const mostQuoted = 2000

// table is a recording that a server is compared with, and the list of where a
// gateway answers otherwise, which is in the same folder.
type table struct {
	*differences.Comparison
	folder string
}

// newTable loads the list in a folder, from the module's root. What is taken is
// saved when the test ends.
func newTable(t *testing.T, folder string, external bool, stories []story.Story) *table {
	t.Helper()
	folder = filepath.Join("..", "..", folder)
	list, err := differences.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string]int{}
	for _, told := range stories {
		steps[told.Name] = len(told.Steps)
	}
	if err := list.Fits(steps); err != nil {
		t.Fatal(err)
	}
	checkJustified(t, list)
	ours := &table{Comparison: differences.NewComparison(list), folder: folder}
	ours.External, ours.Take, ours.Why, ours.Row = external, *take && !external, *takenWhy, *takenRow
	t.Cleanup(func() { ours.finish(t) })
	return ours
}

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
		if err := c.Save(c.folder); err != nil {
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

// compare compares the replies to a story: to its definition, if it has one, which
// counts as the step before the first, and to its steps.
func (c *table) compare(t *testing.T, told story.Story, recorded []string, answers []story.Texts) {
	t.Helper()
	steps, before := told.Steps, 0
	if told.Definition != "" {
		steps, before = append([]story.Step{{Method: "define", Body: told.Definition}}, steps...), 1
	}
	if len(answers) != len(recorded) {
		t.Fatalf("%d replies, and %d are recorded", len(answers), len(recorded))
	}
	wrong := 0
	for i, answer := range answers {
		step, row := steps[i], i-before
		if err := c.Reply(told.Name, row, step, recorded[i], answer.Like(recorded[i])); err != nil {
			if wrong++; wrong <= mostTold {
				t.Errorf("row %d: %s %s %s %s\n%.*s\n%v", row, step.Method, step.Path, step.Type, step.Accept, mostQuoted, step.Body, err)
			}
		}
	}
	if wrong > mostTold {
		t.Errorf("%d rows are wrong", wrong)
	}
}

// tellAll tells stories and compares the replies with a recording.
func tellAll(t *testing.T, stories []story.Story, file string) {
	t.Helper()
	s := harness.Shared(t)
	tellAllVia(t, s, newTable(t, filepath.Dir(file), s.External, stories), stories, file, func(s story.Send) story.Send { return s })
}

// tellAllVia does so to a server, whose requests and replies via may change.
func tellAllVia(t *testing.T, s *harness.Server, c *table, stories []story.Story, file string, via func(story.Send) story.Send) {
	t.Helper()
	recording, err := story.Load(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, told := range stories {
		t.Run(told.Name, func(t *testing.T) {
			t.Parallel()
			replies, err := told.Tell(context.Background(), via(sender(s.API(t))))
			if err != nil {
				t.Fatal(err)
			}
			recorded, ok := recording[told.Name]
			if !ok {
				t.Fatal("it is not recorded")
			}
			answers, err := story.TextsOf(replies)
			if err != nil {
				t.Fatal(err)
			}
			var wanted []string
			for _, reply := range recorded {
				wanted = append(wanted, string(reply))
			}
			c.compare(t, told, wanted, answers)
		})
	}
}
