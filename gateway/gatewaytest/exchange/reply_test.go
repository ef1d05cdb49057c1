package exchange

import (
	"slices"
	"strings"
	"testing"
)

func TestRepliesLoseWhatDiffersFromRunToRun(t *testing.T) {
	const uid = "123e4567-e89b-12d3-a456-426614174000"
	for _, c := range []struct{ name, body, want string }{
		{"metadata", `{"metadata":{"name":"a","uid":"` + uid + `","resourceVersion":"7","creationTimestamp":"2024-01-01T00:00:00Z","managedFields":[]},"n":1.0}`, `{"code":200,"body":{"metadata":{"name":"a"},"n":1.0}}`},
		{"of items too", `{"items":[{"metadata":{"uid":"u"}}],"metadata":{"continue":""}}`, `{"code":200,"body":{"items":[{"metadata":{}}],"metadata":{}}}`},
		{"a token", `{"metadata":{"continue":"abc"}}`, `{"code":200,"body":{"metadata":{"continue":"…"}}}`},
		{"ages", `{"rows":[{"cells":["a","7s",3,"2m5s","7x"]}]}`, `{"code":200,"body":{"rows":[{"cells":["a","…",3,"…","7x"]}]}}`},
		{"what is no object", "404 page not found\n", `{"code":200,"body":{"text":"404 page not found\n"}}`},
		{"a status whose causes say everything", `{"kind":"Status","reason":"Invalid","message":"A \"x\" is invalid: [b: two, a: one]","details":{"causes":[{"reason":"R","field":"b","message":"two"},{"reason":"R","field":"a","message":"one"}]}}`,
			`{"code":200,"body":{"causes":["R a: one","R b: two"],"message":"A \"x\"","reason":"Invalid"}}`},
		{"one that says more", `{"kind":"Status","message":"A \"x\" is invalid: [a: one, c: three]","details":{"causes":[{"reason":"R","field":"a","message":"one"}]}}`,
			`{"code":200,"body":{"causes":["R a: one"],"message":"A \"x\" is invalid: [a: one, c: three]"}}`},
		{"a status that quotes", `{"kind":"Status","message":"selfType17.spec, UID in object meta: ` + uid + `"}`, `{"code":200,"body":{"message":"….spec, UID in object meta: …"}}`},
	} {
		r, err := newReply(Step{}, 200, nil, []byte(c.body))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got, err := r.Text(); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
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
	r := Recording{}
	if err := r.Record("a", []Reply{{Code: 200}}); err != nil || r.Record("a", nil) == nil {
		t.Errorf("a story could be recorded twice, or not once: %v", err)
	}
	file := t.TempDir() + "/r.json"
	if err := r.Save(file); err != nil {
		t.Fatal(err)
	}
	back, err := Load(file)
	if err != nil || len(back) != 1 || !slices.Equal(back["a"][0], r["a"][0]) {
		t.Errorf("got %v, %v", back, err)
	}
}
