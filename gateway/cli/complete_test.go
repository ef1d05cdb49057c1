package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// listing answers lists by their paths, and everything else with an error.
func listing(t *testing.T, lists map[string]string) string {
	t.Helper()
	g := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, ok := lists[r.URL.Path]
		if !ok {
			status(w, 500, "InternalError")
			return
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(g.Close)
	return g.URL
}

// Shells are offered the names that there are where one is meant, each once, files where a
// file is meant, and nothing else.
func TestNamesAreCompleted(t *testing.T) {
	const names = `{"kind":"List","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`
	lists := map[string]string{modulesPath: names, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": names,
		modulesPath + "/a/failures": `{"items":[{"id":"a.1"},{"id":"a.2"}]}`, modulesPath + "/b/failures": `{"items":[{"id":"b.1"}]}`}
	server := listing(t, lists)
	const nothing, files, failed = ":4\n", ":0\n", ":5\n"
	for line, want := range map[string]string{
		"module logs":           "a\nb\n" + nothing,
		"module logs a":         nothing,
		"module history a":      nothing,
		"module rollback a":     nothing,
		"module promote a":      nothing,
		"module get":            "a\nb\n" + nothing,
		"module get a":          files,
		"module push a":         files,
		"module delete":         "a\nb\n" + nothing,
		"module delete a":       "b\n" + nothing,
		"module delete a b":     nothing,
		"module record":         "a\nb\n" + nothing,
		"plan b":                "a\n" + nothing,
		"module replay":         "a.1\na.2\nb.1\n" + nothing,
		"module replay a.1":     files,
		"module inspect -s":     files,
		"module logs -s http:/": failed,
	} {
		args := append([]string{"__completeNoDesc"}, strings.Fields(strings.TrimSuffix(line, " -s"))...)
		if !strings.Contains(line, "-s") {
			args = append(args, "-s", server)
		}
		out, err := command(t, append(args, "")...)
		if !strings.HasPrefix(out, want) || err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	delete(lists, modulesPath)
	if out, err := command(t, "__completeNoDesc", "module", "logs", "-s", server, ""); err != nil || !strings.HasPrefix(out, failed) {
		t.Errorf("a gateway that has no answer: %v\n%s", err, out)
	}
}
