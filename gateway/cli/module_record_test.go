package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
