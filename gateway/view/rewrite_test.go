package view

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/storage"
)

// What is stored as it should be stays as it is; what is not is written anew, without
// a revision.
func TestWhatIsRewritten_CRD32(t *testing.T) {
	s := newShelf(t)
	tabs := s.cronTabs()
	const revision = `"resourceVersion":"5"`
	dead := `"managedFields":[{"apiVersion":"example.com/v0","manager":"m"}]`
	for name, c := range map[string]struct {
		of      *Renderer
		value   string
		keeping storage.Keeping
		changed bool
		want    string // a part of what is to be stored
		fails   bool
	}{
		"as it should be":  {of: tabs, value: catalogtest.Tab(v1, "one", "h", "1"), want: `"host":"h"`},
		"kept otherwise":   {of: tabs, value: catalogtest.Tab(v1, "one", "h", "1"), keeping: storage.Stale, changed: true, want: `"host":"h"`},
		"at another":       {of: tabs, value: catalogtest.Tab(v1beta1, "one", "h", "1", revision), changed: true, want: `"host":"h"`},
		"a dead manager":   {of: tabs, value: catalogtest.Tab(v1, "one", "h", "1", dead, revision), changed: true, want: `"metadata":{"generation":1,"name":"one"}`},
		"no object":        {of: tabs, value: "x", fails: true},
		"what goes anyway": {of: s.builtin("", "events"), value: `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"}}`},
	} {
		value, changed, err := c.of.Rewritten(t.Context(), storage.KV{Value: []byte(c.value), Revision: 7, Keeping: c.keeping})
		if changed != c.changed || (err != nil) != c.fails || !strings.Contains(string(value), c.want) || c.want == "" && value != nil {
			t.Errorf("%s: %s, changed %t, %v", name, value, changed, err)
		}
		if changed && strings.Contains(string(value), "resourceVersion") {
			t.Errorf("%s: it keeps its revision: %s", name, value)
		}
	}
}
