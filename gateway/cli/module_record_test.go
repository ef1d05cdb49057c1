package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// What is read of objects is at a version that is served, and else the versions that are are
// named.
func TestRecordReadsAtAVersionThatIsServed(t *testing.T) {
	asked := ""
	g := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/customresourcedefinitions/tabs.example.com") {
			_, _ = io.WriteString(w, `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"tabs.example.com"},
				"spec":{"group":"example.com","names":{"plural":"tabs","kind":"Tab"},"versions":[
				{"name":"v1","served":true,"storage":true},{"name":"v1beta1","served":true},{"name":"v1alpha1","served":false}]}}`)
			return
		}
		asked = r.URL.Path
		_, _ = io.WriteString(w, `{"kind":"TabList","apiVersion":"example.com/v1","metadata":{},"items":[]}`)
	}))
	t.Cleanup(g.Close)
	for at, c := range map[string]struct {
		exit        int
		want, asked string
	}{
		"v1alpha1": {statusMistake, `--at: tabs.example.com is not served at "v1alpha1"; it is at v1, v1beta1`, ""},
		"v9":       {statusMistake, `--at: tabs.example.com is not served at "v9"`, ""},
		"v1beta1":  {1, "there are no objects of tabs.example.com", "/apis/example.com/v1beta1/tabs"},
		"":         {1, "there are no objects of tabs.example.com", "/apis/example.com/v1/tabs"},
	} {
		asked = ""
		if _, exit, err := (&bench{}).run(t, "module", "record", "tabs.example.com", "--at", at, "-s", g.URL); exit != c.exit || err == nil || !strings.HasPrefix(err.Error(), c.want) || asked != c.asked {
			t.Errorf("at %q: %d, %v, asked for %q", at, exit, err, asked)
		}
	}
}

// recordable is a gateway with so many objects of a kind, of which a page has two at most, and
// that notes what is asked of it.
func recordable(t *testing.T, objects int) (server string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	g := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "/customresourcedefinitions/") {
			_, _ = io.WriteString(w, `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"tabs.example.com"},
				"spec":{"group":"example.com","names":{"plural":"tabs","kind":"Tab"},"versions":[{"name":"v1","served":true,"storage":true}]}}`)
			return
		}
		*asked = append(*asked, r.URL.Path+"?"+r.URL.RawQuery)
		first, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		var items []string
		for i := first; i < min(first+2, objects); i++ {
			items = append(items, fmt.Sprintf(`{"kind":"Tab","apiVersion":"example.com/v1","metadata":{"name":"o%d"}}`, i))
		}
		next := ""
		if first+2 < objects {
			next = strconv.Itoa(first + 2)
		}
		fmt.Fprintf(w, `{"kind":"TabList","apiVersion":"example.com/v1","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
	}))
	t.Cleanup(g.Close)
	return g.URL, asked
}

// Objects are read page by page, those that are meant and no more of them than are to be
// looked at.
func TestRecordReadsObjectsPageByPage(t *testing.T) {
	const tabs = "/apis/example.com/v1/tabs?limit="
	for name, c := range map[string]struct {
		objects int
		args    string
		read    int
		asked   []string
	}{
		"all":           {5, "", 5, []string{tabs + "200", "/apis/example.com/v1/tabs?continue=2&limit=200", "/apis/example.com/v1/tabs?continue=4&limit=200"}},
		"one page":      {2, "", 2, []string{tabs + "200"}},
		"some":          {5, "--objects 3", 3, []string{tabs + "3", "/apis/example.com/v1/tabs?continue=2&limit=1"}},
		"whole pages":   {5, "--objects 2", 2, []string{tabs + "2"}},
		"of some place": {1, "-n team -l a=b", 1, []string{"/apis/example.com/v1/namespaces/team/tabs?labelSelector=a%3Db&limit=200"}},
	} {
		server, asked := recordable(t, c.objects)
		dir := t.TempDir()
		b := &bench{recorded: workbench.Recorded{Definition: "tabs.example.com", Version: "v1", Objects: c.read, Reached: 2, Fields: 3, Files: []workbench.File{{Name: "a.yaml", Content: []byte("a")}}}}
		out, exit, err := b.run(t, append(strings.Fields("module record tabs.example.com --samples 4 -s "+server+" --out "+dir), strings.Fields(c.args)...)...)
		if exit != 0 || err != nil || !strings.HasPrefix(out, "tabs.example.com: 1 sample in "+dir+", of ") || !strings.HasSuffix(out, " at v1; they have 2 of 3 fields\n") {
			t.Errorf("%s: %d, %v\n%s", name, exit, err, out)
		}
		if len(b.recording.Objects) != c.read || b.recording.Version != "v1" || b.recording.Most != 4 || !strings.Contains(string(b.recording.Definitions), `"kind":"CustomResourceDefinition"`) || !slices.Equal(*asked, c.asked) {
			t.Errorf("%s: %d objects, asked %q, of\n%s", name, len(b.recording.Objects), *asked, b.recording.Definitions)
		}
		for i, o := range b.recording.Objects {
			if !strings.Contains(string(o), fmt.Sprintf(`"o%d"`, i)) {
				t.Errorf("%s: %d is %s", name, i, o)
			}
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a.yaml")); err != nil || string(text) != "a" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// What is wrong is told, and a sample that is there is not written over.
func TestRecordRefuses(t *testing.T) {
	server, _ := recordable(t, 3)
	dir := t.TempDir()
	b := &bench{recorded: workbench.Recorded{Files: []workbench.File{{Name: "a.yaml", Content: []byte("a")}}}}
	run := func(args string) (string, int, error) {
		return b.run(t, strings.Fields("module record tabs.example.com --out "+dir+" -s "+server+" "+args)...)
	}
	for _, c := range []struct {
		args string
		exit int
		want string
	}{
		{"--samples 0", statusMistake, "--samples and --objects have to be more than 0"},
		{"--objects 0", statusMistake, "--samples and --objects have to be more than 0"},
		{"-l a=b=c", statusMistake, "--selector: "},
		{"-o json", 0, ""},
		{"", statusMistake, filepath.Join(dir, "a.yaml") + " is there already"},
		{"--force", 0, ""},
	} {
		if out, exit, err := run(c.args); exit != c.exit || (err == nil) != (exit == 0) || err != nil && !strings.HasPrefix(err.Error(), c.want) || strings.HasPrefix(out, "{") != (c.args == "-o json") {
			t.Errorf("%s: %d, %v\n%s", c.args, exit, err, out)
		}
	}
	b.recorded = workbench.Recorded{Refused: 3}
	if _, exit, err := run(""); exit != statusFound || err == nil || err.Error() != "3 objects were passed over: with other values the schema refuses them" {
		t.Errorf("no samples: %d, %v", exit, err)
	}
	b.err = errors.New("it cannot be done")
	if _, exit, err := run(""); exit != statusMistake || !errors.Is(err, b.err) {
		t.Errorf("a failure: %d, %v", exit, err)
	}
}
