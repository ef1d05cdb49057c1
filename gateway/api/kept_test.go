package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// recorded is a request whose reply is kept.
func recorded() *Call {
	return &Call{Request: &Request{}, Record: &Audit{Keep: Keep{Level: KeepResponse}}}
}

// Of a reply is kept what the client gets, up to a length, in whichever way it is made; one
// that fails says so itself.
func TestRepliesAreKeptUpToALength(t *testing.T) {
	long := bytes.Repeat([]byte("x"), mostReplied)
	longer := append(bytes.Clone(long), 'x')
	writes := func(data []byte, err error) *reply.Response {
		return &reply.Response{Length: len(data), Write: func(w io.Writer) error {
			_, _ = w.Write(data)
			return err
		}}
	}
	broken := errors.New("it breaks")
	for name, c := range map[string]struct {
		resp     *reply.Response
		err      error
		kept     int
		overlong bool
	}{
		"a body": {&reply.Response{Body: []byte("abc")}, nil, 3, false}, "the longest": {&reply.Response{Body: long}, nil, mostReplied, false}, "one that is longer": {&reply.Response{Body: longer}, nil, 0, true},
		"written": {writes([]byte("abc"), nil), nil, 3, false}, "the longest that is written": {writes(long, nil), nil, mostReplied, false}, "a longer one": {writes(longer, nil), nil, 0, true}, "that breaks": {writes([]byte("abc"), broken), nil, 0, false},
		"read": {&reply.Response{Reader: bytes.NewReader([]byte("abc"))}, nil, 3, false}, "the longest that is read": {&reply.Response{Reader: bytes.NewReader(long)}, nil, mostReplied, false}, "more than that": {&reply.Response{Reader: bytes.NewReader(slices.Concat(long, long))}, nil, 0, true},
		"none": {nil, broken, 0, false},
	} {
		call := recorded()
		call.repliedAs(form.Form{}, func(form.Form) (*reply.Response, error) { return c.resp, c.err })
		if got := call.Record; len(got.Replied) != c.kept || got.Overlong != c.overlong {
			t.Errorf("%s: %d bytes are kept, overlong: %v", name, len(got.Replied), got.Overlong)
		}
	}
	for _, call := range []*Call{{Request: &Request{}}, {Request: &Request{}, Record: &Audit{Keep: Keep{Level: KeepRequest}}}} {
		call.repliedAs(form.Form{}, func(form.Form) (*reply.Response, error) { t.Error("what nobody keeps is made"); return nil, broken })
		call.replied([]byte("abc"))
		if call.Record != nil && call.Record.Replied != nil {
			t.Errorf("%s is kept", call.Record.Replied)
		}
	}
}

// Who converts is kept, if anybody does; what is no object is kept as JSON has it.
func TestWhatElseIsKept(t *testing.T) {
	call := recorded()
	if call.convertedBy(conversion.By{}); len(call.Record.Annotations) > 0 {
		t.Errorf("nobody converts, and kept is %v", call.Record.Annotations)
	}
	call.convertedBy(conversion.By{Module: "tabs", Digest: "sha256:1"})
	if got := call.Record.Annotations["conversion.wasmgate.dev/by"]; !strings.Contains(got, `"tabs"`) || !strings.Contains(got, `"sha256:1"`) {
		t.Errorf("kept is %q", got)
	}
	if got := plain(map[string]any{"a": 1}); string(got) != `{"a":1}` {
		t.Errorf("%s", got)
	}
	if got := plain(make(chan int)); got != nil {
		t.Errorf("%s", got)
	}
	var levels []string
	for _, l := range []Level{KeepNone, KeepMetadata, KeepRequest, KeepResponse} {
		levels = append(levels, l.String())
	}
	if want := []string{"None", "Metadata", "Request", "RequestResponse"}; !slices.Equal(levels, want) {
		t.Errorf("%q", levels)
	}
}

// Conversations, and what follows something, have no time; a path that is no resource has.
func TestWhichRequestsLast(t *testing.T) {
	for _, c := range []struct {
		resource    bool
		verb        string
		subresource string
		want        bool
	}{
		{true, "get", "", false}, {true, "watch", "", true}, {true, "create", "exec", true}, {true, "get", "attach", true}, {true, "get", "proxy", true}, {true, "get", "log", true},
		{true, "create", "portforward", true}, {true, "get", "status", false}, {false, "watch", "", false}, {false, "get", "log", false},
	} {
		call := &Call{Request: &Request{}}
		call.Resource, call.Verb, call.Subresource = c.resource, c.verb, c.subresource
		if got := call.Lasts(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Warnings about the request come first, each once.
func TestWarningsOfARequest(t *testing.T) {
	call := &Call{Request: &Request{}}
	for _, text := range []string{"a", "b", "a"} {
		call.Warn(text)
	}
	resp := call.Warned(&reply.Response{Headers: []reply.Header{{Name: "X", Value: "x"}}})
	want := []reply.Header{{Name: "Warning", Value: `299 - "a"`}, {Name: "Warning", Value: `299 - "b"`}, {Name: "X", Value: "x"}}
	if !reflect.DeepEqual(resp.Headers, want) {
		t.Errorf("%v", resp.Headers)
	}
}

// What a collection leaves out is told: all by name, and why for the first ones.
func TestWarningsOfWhatIsMissing(t *testing.T) {
	r, v := newWorld(t).Engine.Catalog().Snapshot().Find("example.com", "v1", "widgets")
	target := resource.Target{Resource: r, Version: v}
	var w warnings
	if w.missing(target, nil); len(w.list) > 0 {
		t.Errorf("nothing is missing: %q", w.list)
	}
	var all []resource.Missing
	for i := range maxMissing + 1 {
		all = append(all, resource.Missing{Key: fmt.Sprint("n", i), Why: fmt.Errorf("why %d", i)})
	}
	w.missing(target, all)
	if len(w.list) != maxMissing+1 || !strings.HasPrefix(w.list[0], "11 widgets.example.com cannot be converted to v1 and are left out: n0, n1, ") || !strings.HasSuffix(w.list[0], "n10") || w.list[1] != "n0: why 0" || w.list[10] != "n9: why 9" {
		t.Errorf("%q", w.list)
	}
}

// An answer is JSON, or a text that no browser takes for a page.
func TestAnswersToQuestions(t *testing.T) {
	q, broken := Question{Code: 201}, errors.New("it breaks")
	if r, err := q.answered(nil, broken); r != nil || !errors.Is(err, broken) {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := q.answered("<b>", nil); err != nil || r.Code != 201 || string(r.Body) != "<b>" || r.ContentType != "text/plain; charset=utf-8" || len(r.Headers) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := q.answered(map[string]int{"a": 1}, nil); err != nil || r.Code != 201 || string(r.Body) != `{"a":1}` || r.ContentType != "application/json" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := q.answered(make(chan int), nil); err == nil {
		t.Errorf("%+v", r)
	}
}

// readable has a document under one path.
type readable struct{ path string }

func (d readable) Serve(_ context.Context, r *Request, _ *catalog.Snapshot) *reply.Response {
	if r.Path != d.path || r.Method != http.MethodGet {
		return nil
	}
	return &reply.Response{Code: 200, Body: []byte(d.path)}
}

// Where there is something to read, it is read, and nothing else can be done; elsewhere there
// is nothing, whatever is asked.
func TestDocumentsAreOnlyRead(t *testing.T) {
	h := &Handler{Config: Config{Documents: []Documents{readable{"/a"}, readable{"/b"}}}}
	for _, c := range []struct {
		method, path string
		code         int
		body         string
	}{
		{"GET", "/a", 200, "/a"}, {"GET", "/b", 200, "/b"}, {"HEAD", "/b", 200, "/b"}, {"POST", "/a", 405, ""}, {"DELETE", "/b", 405, ""},
		{"GET", "/c", 404, ""}, {"HEAD", "/c", 404, ""}, {"PUT", "/c", 404, ""},
	} {
		resp := h.document(t.Context(), &Request{Method: c.method, Path: c.path}, nil)
		if resp.Code != c.code || c.body != "" && string(resp.Body) != c.body {
			t.Errorf("%s %s: %d %s", c.method, c.path, resp.Code, resp.Body)
		}
	}
}
