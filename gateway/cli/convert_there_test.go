package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/pki/kubeconfig"
)

// converting is a gateway that serves Tabs and PlayLists at example.com/v1, and answers
// ConversionReviews: those of objects that have "bad" or "away" in them with an error. It
// returns its kubeconfig.
func converting(t *testing.T) string {
	t.Helper()
	fail := func(w http.ResponseWriter, code int, message string) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message, "reason": map[int]string{404: "NotFound"}[code]})
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch body, _ := io.ReadAll(r.Body); {
		case r.URL.Path == "/apis/example.com/v1":
			_, _ = io.WriteString(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[
				{"name":"tabs","kind":"Tab","namespaced":true,"verbs":["get"]},{"name":"playlists","kind":"PlayList","verbs":["get"]},
				{"name":"tabs/other","kind":"Other","verbs":["get"]}]}`)
		case r.URL.Path != "/apis/wasmgate.dev/v1/conversionreviews":
			fail(w, 404, "the server could not find the requested resource")
		case strings.Contains(string(body), `"bad"`):
			fail(w, 500, "it cannot")
		case strings.Contains(string(body), `"large"`):
			fail(w, 413, "less than that")
		case strings.Contains(string(body), `"none"`):
			fail(w, 404, "the server could not find the requested resource")
		case strings.Contains(string(body), `"away"`):
			fail(w, 503, "come back later")
		default:
			var review map[string]any
			_ = json.Unmarshal(body, &review)
			spec := review["spec"].(map[string]any)
			obj, one := spec["object"].(map[string]any)
			if !one { // as a gateway that knows no others
				fail(w, 422, "spec.object: Required value")
				return
			}
			obj["apiVersion"], obj["status"] = spec["desiredAPIVersion"], map[string]any{"made": true}
			review["status"] = map[string]any{"object": obj}
			w.WriteHeader(201)
			_ = json.NewEncoder(w).Encode(review)
		}
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := kubeconfig.Write(file, kubeconfig.Admin{Server: s.URL, Token: "t"}); err != nil {
		t.Fatal(err)
	}
	return file
}

// A gateway converts what it serves at the version, and the rest stays as it
// was written.
func TestConvertByAGateway(t *testing.T) {
	config, b := converting(t), &bench{}
	const tab = "apiVersion: example.com/v0 # x\nkind: Tab\n"
	for _, c := range []struct {
		name, file string
		args       []string
		exit       int
		want       string
	}{
		{"one object", tab, nil, 0, strings.Replace(tab, "v0", "v1", 1)},
		{"one with a status", tab + "status: {}\n", nil, 0, strings.Replace(tab, "v0", "v1", 1) + "status:\n  made: true\n"},
		{"one that is at the version", "apiVersion: example.com/v1\nkind: Tab # bad\n", nil, 0, "apiVersion: example.com/v1\nkind: Tab # bad\n"},
		{"others beside it", tab + "---\napiVersion: v1 # y\nkind: ConfigMap\n---\napiVersion: example.com/v0\nkind: Other\n", nil, 0,
			strings.Replace(tab, "v0", "v1", 1) + "---\napiVersion: v1 # y\nkind: ConfigMap\n---\napiVersion: example.com/v0\nkind: Other\n"},
		{"a kind called list", "apiVersion: example.com/v0\nkind: PlayList\nitems: [a]\n", nil, 0, "apiVersion: example.com/v1\nkind: PlayList\nitems: [a]\n"},
		{"one that cannot be converted", tab + "a: bad\n", nil, 1, "document 1: it cannot"},
		{"what is no object", tab + "---\na: 1\n", nil, 0, strings.Replace(tab, "v0", "v1", 1) + "---\na: 1\n"},
		{"one that is too large", tab + "a: large\n---\n" + tab, nil, 1, "document 1: less than that"},
		{"no wasmgate", tab + "a: none\n", nil, 2, "the server answers no ConversionReviews: is it a wasmgate of this version?"},
		{"a gateway that is away", tab + "a: away\n", nil, 1, "come back later"},
		{"nothing of the version", "apiVersion: v1\nkind: ConfigMap\n", nil, 2, "no object is of a kind that the gateway serves at version v1"},
		{"with a definition", tab, []string{"--crd", "x.yaml"}, 2, "--crd and --config go with --module"},
		{"with a configuration", tab, []string{"--config", "x.yaml"}, 2, "--crd and --config go with --module"},
	} {
		args := append([]string{"convert", "--kubeconfig", config, "--to-version", "v1", "-f", written(t, "o.yaml", c.file)}, c.args...)
		out, exit, err := b.run(t, args...)
		if err != nil {
			out += err.Error()
		}
		if exit != c.exit || c.exit == 0 && out != c.want || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d\n%s\nwant %d\n%s", c.name, exit, out, c.exit, c.want)
		}
	}
}

// A gateway that goes away in the middle leaves all files as they are.
func TestConvertWritesNothingWhenTheGatewayIsGone(t *testing.T) {
	const tab, away = "apiVersion: example.com/v0\nkind: Tab\n", "apiVersion: example.com/v0\nkind: Tab\na: away\n"
	dir := folder(t, map[string]string{"a.yaml": tab, "b.yaml": away, "c.yaml": tab})
	out, exit, err := (&bench{}).run(t, "convert", "--kubeconfig", converting(t), "--to-version", "v1", "-f", dir, "--write")
	if exit != 1 || err == nil || !strings.Contains(err.Error(), "come back later") {
		t.Errorf("status %d, %v\n%s", exit, err, out)
	}
	for name, want := range map[string]string{"a.yaml": tab, "b.yaml": away, "c.yaml": tab} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// together is a gateway that converts several objects at a time, and notes how many; of
// those that are "bad" it says so. It returns its kubeconfig.
func together(t *testing.T, asked *[]int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/apis/example.com/v1" {
			_, _ = io.WriteString(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[{"name":"tabs","kind":"Tab","verbs":["get"]}]}`)
			return
		}
		if r.Method == http.MethodGet { // another group
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","code":404,"reason":"NotFound"}`)
			return
		}
		var review map[string]any
		_ = json.NewDecoder(r.Body).Decode(&review)
		spec := review["spec"].(map[string]any)
		objects, several := spec["objects"].([]any)
		if !several {
			objects = []any{spec["object"]}
		}
		*asked = append(*asked, len(objects))
		if one, _ := objects[0].(map[string]any); len(objects) > 1 && one["a"] == "slow" {
			w.WriteHeader(504)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","code":504,"reason":"Timeout"}`)
			return
		}
		var all []any
		for _, o := range objects {
			obj := o.(map[string]any)
			obj["apiVersion"] = spec["desiredAPIVersion"]
			answer := map[string]any{"object": obj}
			if obj["a"] == "bad" {
				answer = map[string]any{"error": map[string]any{"code": 500, "message": "it cannot"}}
			}
			all = append(all, answer)
		}
		review["status"] = map[string]any{"objects": all}
		if !several {
			review["status"] = all[0]
		}
		w.WriteHeader(201)
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := kubeconfig.Write(file, kubeconfig.Admin{Server: s.URL, Token: "t"}); err != nil {
		t.Fatal(err)
	}
	return file
}

// Many objects go to the gateway in few requests, bounded in number and bytes, come back in
// their order, and those that cannot be converted are told one by one.
func TestManyObjectsAreConvertedTogether(t *testing.T) {
	var asked []int
	config := together(t, &asked)
	files := map[string]string{}
	for i := range 250 {
		files[fmt.Sprintf("o%03d.yaml", i)] = fmt.Sprintf("apiVersion: example.com/v0\nkind: Tab\na: n%d\n", i)
	}
	dir := folder(t, files)
	out, exit, err := (&bench{}).run(t, "convert", "--kubeconfig", config, "--to-version", "v1", "-f", dir)
	var want strings.Builder
	for i := range 250 {
		if i > 0 {
			want.WriteString("---\n")
		}
		fmt.Fprintf(&want, "apiVersion: example.com/v1\nkind: Tab\na: n%d\n", i)
	}
	if err != nil || exit != 0 || out != want.String() {
		t.Errorf("status %d, %v\n%.500s", exit, err, out)
	}
	if fmt.Sprint(asked) != "[100 100 50]" {
		t.Errorf("asked for %d", asked)
	}
	asked = nil
	large := strings.Repeat("x", 400<<10)
	out, exit, _ = (&bench{}).run(t, "convert", "--kubeconfig", config, "--to-version", "v1", "--check", "-f", folder(t, map[string]string{
		"a.yaml": "apiVersion: example.com/v0\nkind: Tab\na: " + large + "\n", "b.yaml": "apiVersion: example.com/v0\nkind: Tab\na: bad\n", "c.yaml": "apiVersion: v1\nkind: ConfigMap\n",
		"d.yaml": "apiVersion: example.com/v0\nkind: Tab\na: " + large + "\n", "e.yaml": "apiVersion: example.com/v0\nkind: Tab\na: " + large + "\n",
	}))
	if exit != 1 || strings.Count(out, "it cannot") != 1 || !strings.Contains(out, "b.yaml: document 1: it cannot") || strings.Contains(out, "c.yaml") {
		t.Errorf("status %d\n%.500s", exit, out)
	}
	if fmt.Sprint(asked) != "[3 1]" {
		t.Errorf("asked for %d", asked)
	}
	asked = nil // what takes too long together may not do so alone
	out, exit, err = (&bench{}).run(t, "convert", "--kubeconfig", config, "--to-version", "v1", "-f", folder(t, map[string]string{
		"a.yaml": "apiVersion: example.com/v0\nkind: Tab\na: slow\n", "b.yaml": "apiVersion: example.com/v0\nkind: Tab\na: b\n",
	}))
	if err != nil || exit != 0 || strings.Count(out, "apiVersion: example.com/v1") != 2 || fmt.Sprint(asked) != "[2 1 1]" {
		t.Errorf("asked for %d: status %d, %v\n%s", asked, exit, err, out)
	}
}
