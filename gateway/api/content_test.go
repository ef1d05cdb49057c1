package api

import "testing"

// Content is not sent to a client that has it.
func TestContentThatIsKnown(t *testing.T) {
	w := newWorld(t)
	for etag, code := range map[string]int{`"one"`: 304, `"two"`: 200} {
		r := request("GET", widgets+"/one/content", "")
		r.IfNoneMatch = etag
		if got := w.serve(r).want(code, ""); (code == 304) != (got.body == "") {
			t.Errorf("%s: %d with %q", etag, got.Code, got.body)
		}
	}
}
