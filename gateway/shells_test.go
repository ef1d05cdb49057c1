package gateway_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// typed begins a line of a document that is typed into a shell.
	typed = regexp.MustCompile(`^(kubectl|\./wasmgate|wasmgate|go|GOOS=\S+|cp|curl|cd|grep|\(cd) `)
	// inQuotes is what no shell looks into for names of files, and escaped is the status of a command.
	inQuotes = regexp.MustCompile(`'[^']*'|"(\\.|[^"\\])*"|\$\?`)
	// patterns are what zsh, which is macOS's shell, takes for names of files, of which there
	// are none, or for words where others have a comment.
	patterns = regexp.MustCompile(`[?*\[]|(^|\s)#`)
	heredoc  = regexp.MustCompile(`<<-?\s*'?(\w+)'?`)
)

// commandsIn are the lines of a document that are typed, without the texts that
// follow some.
func commandsIn(text string) (all []string) {
	within := ""
	for line := range strings.Lines(text) {
		line, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		switch {
		case !indented:
		case within != "":
			if strings.TrimSpace(line) == within {
				within = ""
			}
		default:
			if begins := heredoc.FindStringSubmatch(line); begins != nil {
				within = begins[1]
			}
			if typed.MatchString(line) {
				all = append(all, line)
			}
		}
	}
	return all
}

// What the documents tell to type works in zsh, too.
func TestDocumentsAreTypedInEveryShell(t *testing.T) {
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range append(files, "../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commandsIn(string(text)) {
			seen++
			if found := patterns.FindString(inQuotes.ReplaceAllString(line, "Q")); found != "" {
				t.Errorf("%s: quote %q in: %s", filepath.Base(path), found, line)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d lines are typed", seen)
	}
}
