package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestDocumentsNameRealFlags keeps the documents from promising flags that do
// not exist.
func TestDocumentsNameRealFlags(t *testing.T) {
	known := map[string]bool{"help": true}
	var collect func(*cobra.Command)
	collect = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		for _, sub := range cmd.Commands() {
			collect(sub)
		}
	}
	collect(New(Parts{}))
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(documents) == 0 {
		t.Fatal(documents, err)
	}
	// The flags of kubectl, of etcd, of compilers and of what runs tests are their own.
	others := regexp.MustCompile("`(?:kubectl|docker|etcdctl|etcdutl)[^`]*`|(?m:^[ $]*(?:until |.*[|] )?kubectl .*$)|cargo build .*|npm install .*|node --test|`--(?:exportStart|use)[^`]*`")
	flagPattern := regexp.MustCompile("(?:^|[\\s`(])--([a-z][a-z0-9-]*)")
	for _, document := range append(documents, "../../README.md", "../../RATIONALE.md") {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range flagPattern.FindAllSubmatch(others.ReplaceAll(text, nil), -1) {
			if !known[string(m[1])] {
				t.Errorf("%s names --%s, which no command has", document, m[1])
			}
		}
	}
}
