package story

import (
	"net/http"
	"strings"
	"testing"
)

// reply is that of a step to a body, with header fields as a server has them.
func reply(t *testing.T, seen *sightings, step int, events bool, body string, fields ...string) Texts {
	t.Helper()
	header := http.Header{"Content-Type": {JSON}, "Cache-Control": {"no-cache, private"}}
	for i := 0; i < len(fields); i += 2 {
		header.Add(fields[i], fields[i+1])
	}
	seen.next(step)
	r, err := newReply(Step{Events: events}, 200, header, []byte(body), seen)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := r.Texts()
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestRepliesLoseWhatDiffersFromRunToRun(t *testing.T) {
	const uid = "123e4567-e89b-12d3-a456-426614174000"
	for _, c := range []struct{ name, body, want string }{
		{"metadata", `{"metadata":{"name":"a","uid":"` + uid + `","resourceVersion":"7","creationTimestamp":"2024-01-01T00:00:00Z","managedFields":[{"time":"2024-01-01T00:00:00Z","manager":"m"}]},"n":1.0}`,
			`{"code":200,"body":{"metadata":{"creationTimestamp":"…","managedFields":[{"manager":"m","time":"…"}],"name":"a","resourceVersion":"@4.1","uid":"@4"},"n":1.0}}`},
		{"but not that it is missing", `{"metadata":{"name":"a","uid":"","creationTimestamp":null}}`, `{"code":200,"body":{"metadata":{"creationTimestamp":null,"name":"a","uid":""}}}`},
		{"of items too", `{"items":[{"metadata":{"name":"a","resourceVersion":"6"}}],"metadata":{"continue":"","resourceVersion":"9"}}`, `{"code":200,"body":{"items":[{"metadata":{"name":"a","resourceVersion":"@4"}}],"metadata":{"resourceVersion":"…"}}}`},
		{"a token", `{"metadata":{"continue":"abc"}}`, `{"code":200,"body":{"metadata":{"continue":"…"}}}`},
		{"ages", `{"rows":[{"cells":["a","7s",3,"2m5s","7x"]}]}`, `{"code":200,"body":{"rows":[{"cells":["a","…",3,"…","7x"]}]}}`},
		{"what is no object", "404 page not found\n", `{"code":200,"body":{"text":"404 page not found\n"}}`},
		{"a status that quotes", `{"kind":"Status","message":"selfType17.spec, UID in object meta: ` + uid + `","details":{"uid":"` + uid + `","causes":[{"message":"resourceVersion: \"12\""}]}}`,
			`{"code":200,"body":{"details":{"causes":[{"message":"…"}],"uid":"@4"},"kind":"Status","message":"….spec, UID in object meta: …"}}`},
	} {
		if got := reply(t, &sightings{}, 4, false, c.body); got.Ordered != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got.Ordered, c.want)
		}
	}
}

// A reply tells which object and which write it shows, whatever their uids and
// revisions are.
func TestRepliesTellWritesApart(t *testing.T) {
	seen := &sightings{}
	for i, c := range []struct {
		events     bool
		body, want string
	}{
		{false, `{"metadata":{"name":"a","uid":"u","resourceVersion":"7"}}`, `{"metadata":{"name":"a","resourceVersion":"@0.1","uid":"@0"}}`},
		{false, `{"metadata":{"name":"a","uid":"u","resourceVersion":"9"}}`, `{"metadata":{"name":"a","resourceVersion":"@1","uid":"@0"}}`},
		{true, `{"object":{"metadata":{"name":"a","resourceVersion":"9"}}} {"object":{"metadata":{"name":"a","resourceVersion":"7"}}} {"object":{"metadata":{"resourceVersion":"10"}}}`,
			`{"events":[{"object":{"metadata":{"name":"a","resourceVersion":"@1"}}},{"object":{"metadata":{"name":"a","resourceVersion":"@0.1"}}},{"object":{"metadata":{"resourceVersion":"…"}}}]}`},
	} {
		if got, want := reply(t, seen, i, c.events, c.body), `{"code":200,"body":`+c.want+`}`; got.Ordered != want {
			t.Errorf("step %d:\n%s\nwant\n%s", i, got.Ordered, want)
		}
	}
}

func TestRepliesKeepWhatIsUnusualOfHeaders(t *testing.T) {
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{nil, `{"code":200}`},
		{[]string{"Retry-After", "1", "Audit-Id", "x"}, `{"code":200,"header":{"Retry-After":"1"}}`},
		{[]string{"Content-Type", "text/plain", "Warning", "b", "Warning", "a"}, `{"code":200,"header":{"Content-Type":"application/json, text/plain"},"warnings":["b","a"]}`},
	} {
		if got := reply(t, &sightings{}, 0, false, `{}`, c.fields...); got.Ordered != c.want {
			t.Errorf("%q: %s, want %s", c.fields, got.Ordered, c.want)
		}
	}
	r, err := newReply(Step{}, 200, http.Header{}, []byte(`{}`), &sightings{})
	if err != nil || r.Header["Content-Type"] != "" || len(r.Header) != 2 {
		t.Errorf("without a header: %v, %v", r.Header, err)
	}
}

// What is in another order each time is recorded without one, and compared so.
func TestOrdersThatAreChanceAreForgotten(t *testing.T) {
	status := func(first, second string) Texts {
		cause := func(field string) string {
			return `{"reason":"R","field":"` + field + `","message":"is ` + field + `"}`
		}
		return reply(t, &sightings{}, 0, false, `{"kind":"Status","reason":"Invalid","message":"A \"x\" is invalid: [`+first+`: is `+first+`, `+second+`: is `+second+`]","details":{"name":"x","causes":[`+cause(first)+`,`+cause(second)+`]}}`)
	}
	one, other, third := status("a", "b"), status("b", "a"), status("a", "c")
	if one.Ordered == other.Ordered || one.Like(one.Ordered) == other.Like(one.Ordered) {
		t.Error("the order of causes is not compared")
	}
	merged, err := one.Merge(other)
	if err != nil || merged.Ordered != `{"code":200,"unordered":true,"body":{"details":{"causes":[{"field":"a","message":"is a","reason":"R"},{"field":"b","message":"is b","reason":"R"}],"name":"x"},"kind":"Status","message":"A \"x\"","reason":"Invalid"}}` {
		t.Errorf("merged is %s, %v", merged.Ordered, err)
	}
	if one.Like(merged.Ordered) != merged.Ordered || other.Like(merged.Ordered) != merged.Ordered {
		t.Error("the order of causes is compared, though it is chance")
	}
	if third.Like(merged.Ordered) == merged.Ordered {
		t.Error("other causes count as the same")
	}
	if _, err := one.Merge(third); err == nil {
		t.Error("replies that differ are merged")
	}
}

func TestStoriesKeepApart(t *testing.T) {
	s := Story{Name: "CRD-05 Bounds, é"}
	if g := s.Group(); g != "crd-05-bounds.exchange.example.com" {
		t.Errorf("the group is %s", g)
	}
	if d := s.Define(Version(`{}`)); !strings.Contains(d, "things."+s.Group()) || strings.Contains(d, "VERSIONS") {
		t.Errorf("got %s", d)
	}
}
