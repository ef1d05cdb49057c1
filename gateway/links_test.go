package gateway_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsLinkToWhatIsThere follows every link from one file of the
// repository to another, to the heading where it names one.
func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s#]*)(?:#([^)\s]*))?\)`)
	followed := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "node_modules" {
			return filepath.SkipDir // documents of others, which are installed for the tests of clients
		}
		if err != nil || !strings.HasSuffix(path, ".md") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(prose(string(text)), -1) {
			if strings.Contains(m[1], ":") {
				continue // of somebody else
			}
			followed++
			target := path
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(path), m[1])
			}
			if content, err := os.ReadFile(target); err != nil && !isFolder(target) {
				t.Errorf("%s links to %s, which is not there", path, m[0])
			} else if m[2] != "" && !hasHeading(string(content), m[2]) {
				t.Errorf("%s links to %s, which has no such heading", path, m[0])
			}
		}
		return nil
	})
	if err != nil || followed < 10 {
		t.Errorf("%d links followed: %v", followed, err)
	}
}

// prose is a document without its blocks of code, which may hold brackets.
func prose(markdown string) string {
	parts := strings.Split(markdown, "\n```")
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(parts[i])
	}
	return b.String()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// hasHeading tells whether a document has a heading with that anchor, as
// repositories' web sites make them.
func hasHeading(markdown, anchor string) bool {
	dropped := regexp.MustCompile(`[^a-z0-9 _-]`)
	for line := range strings.Lines(prose(markdown)) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			slug := dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			if strings.ReplaceAll(slug, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}
