package recorded_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/test/recorded"
	"github.com/wasmgate/wasmgate/test/recorded/differences"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/accounts"
	"github.com/wasmgate/wasmgate/test/story/admissions"
	"github.com/wasmgate/wasmgate/test/story/builtins"
	"github.com/wasmgate/wasmgate/test/story/combined"
	"github.com/wasmgate/wasmgate/test/story/decisions"
	"github.com/wasmgate/wasmgate/test/story/escalation"
	"github.com/wasmgate/wasmgate/test/story/generated"
	"github.com/wasmgate/wasmgate/test/story/layouts"
	"github.com/wasmgate/wasmgate/test/story/mistakes"
	"github.com/wasmgate/wasmgate/test/story/ownership"
	"github.com/wasmgate/wasmgate/test/story/parameters"
	"github.com/wasmgate/wasmgate/test/story/quotas"
	"github.com/wasmgate/wasmgate/test/story/refusals"
	"github.com/wasmgate/wasmgate/test/story/requests"
	"github.com/wasmgate/wasmgate/test/story/rules"
	"github.com/wasmgate/wasmgate/test/story/standards"
)

// tables are the stories that are recorded, by their tables.
func tables(t *testing.T) map[string][]story.Story {
	t.Helper()
	ofBuiltIns, err := builtins.Stories()
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := mistakes.Stories()
	if err != nil {
		t.Fatal(err)
	}
	var owning []story.Story
	for _, s := range ownership.Stories() {
		owning = append(owning, s.Recorded())
	}
	return map[string][]story.Story{
		builtins.Table: ofBuiltIns, mistakes.Table: wrong, combined.Table: combined.Stories(), parameters.Table: parameters.Stories(),
		requests.Table: requests.Stories(), rules.Table: rules.Stories(), refusals.Table: refusals.Stories(),
		generated.Table: generated.Stories(1, generated.Recorded), generated.VersionsTable: generated.VersionsStories(1, generated.VersionsRecorded),
		accounts.Table: accounts.Stories(), quotas.Table: quotas.Stories(), decisions.Table: decisions.Stories(), escalation.Table: escalation.Stories(), layouts.Table: layouts.Stories(), admissions.Table: admissions.Stories(), ownership.Table: owning, standards.Table: standards.Stories(),
	}
}

// TestRecordingsAndListsAreOfTheStories holds what is recorded and listed to what is
// asked: every story has its recording, no recording is of none, and every listed
// difference is of a request that is made, and is one.
func TestRecordingsAndListsAreOfTheStories(t *testing.T) {
	list, err := differences.Load("differences")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for table, stories := range tables(t) {
		for _, s := range stories {
			name := table + "/" + recorded.Name(s)
			if known[name] {
				t.Errorf("two stories have the name %s", name)
			}
			known[name] = true
			r, err := recorded.Load(".", table, s)
			if err != nil {
				t.Error(err)
				continue
			}
			if err := list.Fits(name, r.Headings); err != nil {
				t.Error(err)
			}
			for i, reply := range r.Replies {
				if own, _ := list.Of(name, r.Headings[i]); own.Reply == reply {
					t.Errorf("%s: %s is listed with kube-apiserver's reply", name, r.Headings[i])
				}
			}
		}
	}
	for _, name := range list.Stories() {
		if !known[name] {
			t.Errorf("differences are listed for %s, which is no story", name)
		}
	}
	var files []string
	for name := range known {
		files = append(files, filepath.FromSlash(name)+".txt")
	}
	found, err := filepath.Glob("*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	others := []string{"differences", "audits", "flows", "models"} // the last three are of events, of headers and of documents, which tests of the whole server compare
	for _, file := range found {
		if !slices.Contains(others, filepath.Dir(file)) && !slices.Contains(files, file) {
			t.Errorf("%s is of no story", file)
		}
	}
	if _, err := os.Stat("differences"); err != nil || len(known) < 300 {
		t.Errorf("%d stories: %v", len(known), err)
	}
}
