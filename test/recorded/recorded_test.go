package recorded

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/story"
)

// asked is a story of requests of all sorts.
func asked() story.Story {
	s := story.Story{Name: "a story", Base: "/api/v1/things", Sample: `{"a":"b","metadata":{"name":"there"},"spec":{"list":[1,2],"x.y":{}},"status":{"n":1,"of":"those that there are"}}`}
	for _, step := range []story.Step{
		{Method: "GET", Path: "/api/v1/things"},
		{Method: "GET", Path: "/api/v1/thingsandmore?a=b c", Accept: "application/vnd.kubernetes.protobuf;as=Table", Headers: []string{"Impersonate-User", "a b"}},
		{Method: "POST", Path: "/api/v1/things?dryRun=All", Body: `{"metadata":{"name":"other"},"spec":{"list":[1,7],"x.y":{"z":true}},"a":"b"}`},
		{Method: "PUT", Path: "/api/v1/things/there", Body: `{"metadata":{"name":"there"},"metadata":{"name":"there"},"spec":{"list":[1,2],"x.y":{}}}`},
		{Method: "PUT", Path: "/api/v1/things/there", Type: "text/plain", Body: "odd\n"},
		{Method: "PATCH", Path: "/api/v1/things/there", Type: story.JSONPatch, Body: `[{"op":"add","path":"/status","value":{"n":1,"more":7,"of":"those that there are"}},{"op":"remove","path":"/spec"}]`},
		{Method: "PATCH", Path: "/api/v1/things/there", Type: story.MergePatch, Body: `{"a":null}`},
		{Method: "GET", Path: "/api/v1/things"},
		{Method: "GET", Path: "/api/v1/things"},
		{Method: "PATCH", Path: "/api/v1/things/there", Type: story.MergePatch, Body: `"` + strings.Repeat("x", 10_000) + `"`},
	} {
		s.Add(step)
	}
	s.Steps = append(s.Steps, story.Step{Method: "PATCH", Path: "/api/v1/things/there", Body: "{}"})
	return s
}

func TestHeadingsSayWhatIsAsked(t *testing.T) {
	want := []string{
		`GET ~`,
		`GET "/api/v1/thingsandmore?a=b c" accept=protobuf;as=Table Impersonate-User="a b"`,
		`POST ~?dryRun=All {...object, metadata.name: "other", spec.list.1: 7, spec."x.y".z: true}`,
		`PUT ~/there {"metadata":{"name":"there"},"metadata":{"name":"there"},"spec":{"list":[1,2],"x.y":{}}}`,
		`PUT ~/there text/plain "odd\n"`,
		`PATCH ~/there jsonpatch [add /status {...object.status, more: 7}, remove /spec]`,
		`PATCH ~/there merge {"a":null}`,
		`GET ~ (after PATCH ~/there merge)`,
		`GET ~ (after PATCH ~/there merge, 2)`,
		`PATCH ~/there merge "` + strings.Repeat("x", mostQuoted/2-1) + `… of 10002 bytes, ` + digest(`"`+strings.Repeat("x", 10_000)+`"`),
		`PATCH ~/there untyped {}`,
	}
	got := Headings(asked())
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("heading %d of %d is\n%s\nwant\n%s", i, len(got), slices.Concat(got, []string{"", "", ""})[i], slices.Concat(want, []string{"", "", ""})[i])
		}
	}
}

func TestHeadingsOfProtobufSayWhatIsInIt(t *testing.T) {
	const there = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"there"},"data":{"a":"b"}}`
	s := story.Story{Name: "a", Base: "/m", Sample: there}
	body, err := story.ToProtobuf(strings.Replace(there, "there", "other", 1))
	if err != nil {
		t.Fatal(err)
	}
	s.Add(story.Step{Method: "POST", Path: "/m", Type: story.Protobuf, Body: body})
	s.Add(story.Step{Method: "POST", Path: "/m", Type: story.Protobuf, Body: "k8s\x00"})
	want := []string{`POST ~ protobuf {...object, metadata.name: "other"}`, `POST ~ protobuf "k8s\x00"`}
	if got := Headings(s); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// answers are replies, with how they are written.
var answers = []struct{ text, lines string }{
	{`{"code":200}`, "200"},
	{`{"code":200,"body":{"a":"<&>\u2028","n":1.50}}`, `200 {"a":"<&>\u2028","n":1.50}`},
	{`{"code":404,"body":{"apiVersion":"v1","code":404,"details":{"kind":"things","name":"x"},"kind":"Status","message":"things \"x\" not found","metadata":{},"reason":"NotFound","status":"Failure"}}`,
		"404 NotFound: things \"x\" not found\n  details {\"kind\":\"things\",\"name\":\"x\"}"},
	{`{"code":422,"unordered":true,"body":{"apiVersion":"v1","code":422,"details":{"causes":[{"field":"a","message":"Required (really)","reason":"R"},{"field":"b","message":"Bad: value","reason":"S"}]},"kind":"Status","message":"x is invalid: [a: Required (really), b: Bad: value]","metadata":{},"reason":"Invalid","status":"Failure"}}`,
		"422 unordered Invalid: x is invalid: …\n  - a: Required (really) (R)\n  - b: Bad: value (S)\n  details {}"},
	{`{"code":422,"body":{"apiVersion":"v1","code":422,"details":{"causes":[{"field":"a","message":"Bad…","reason":"R"}]},"kind":"Status","message":"a… is otherwise","metadata":{},"reason":"Invalid","status":"Failure"}}`, ""},
	{`{"code":409,"body":{"apiVersion":"v1","code":409,"details":{"causes":[{"message":"m"}]},"kind":"Status","message":"m","metadata":{},"reason":"Conflict","status":"Failure"}}`, ""},
	{`{"code":500,"body":{"code":1,"kind":"Status","message":"of another code","reason":"Odd"}}`, ""},
	{`{"code":400,"body":{"apiVersion":"v1","code":400,"kind":"Status","message":"two\nlines","metadata":{},"reason":"BadRequest","status":"Failure"}}`, ""},
	{`{"code":200,"header":{"Content-Type":"application/yaml","Vary":""},"warnings":["299 - \"one\"","two"],"body":{"text":"a: b\n"}}`,
		"200 {\"text\":\"a: b\\n\"}\n  header Content-Type: application/yaml\n  header Vary: \n  warning 299 - \"one\"\n  warning two"},
	{`{"body":{"keys":"in another order"},"code":200}`, ""},
}

func TestRepliesAreWrittenForReaders(t *testing.T) {
	for _, a := range answers {
		lines := format(a.text)
		if got := strings.Join(lines, "\n"); a.lines != "" && got != a.lines {
			t.Errorf("%s is written\n%s\nwant\n%s", a.text, got, a.lines)
		}
		if got, err := parse(lines); err != nil || got != a.text {
			t.Errorf("%s is read as\n%s\n%v", a.text, got, err)
		}
	}
}

func TestRepliesThatAreNoneAreRefused(t *testing.T) {
	for _, text := range []string{"", "x", "200 {", "200\n  odd", "200 {}\n  details []", "200 {}\n  - field", "200\n  details {}", "404 [00000000]"} {
		if got, err := Resolve(map[string]string{}, strings.Split(text, "\n")); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

// recordedTo saves a reply to each request of a story.
func recordedTo(t *testing.T, s story.Story, replies []string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := Save(folder, "table", s, replies); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestRecordingsAreThoseOfTheirRequests(t *testing.T) {
	s := asked()
	var replies []string
	for i := range s.Steps {
		replies = append(replies, answers[i%4].text)
	}
	folder := recordedTo(t, s, replies)
	got, err := Load(folder, "table", s)
	if err != nil || !slices.Equal(got.Replies, replies) || !slices.Equal(got.Headings, Headings(s)) {
		t.Fatalf("got %q, %v", got.Replies, err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "table", "a-story.txt"))
	if n := strings.Count(string(text), `things "x" not found`); err != nil || n != 1 {
		t.Errorf("a reply is written %d times: %v", n, err)
	}
	for name, change := range map[string]func(*story.Story){
		"another body":     func(s *story.Story) { s.Steps[2].Body = "{}" },
		"another path":     func(s *story.Story) { s.Steps[0].Path += "/a" },
		"another end":      func(s *story.Story) { s.Steps = s.Steps[:len(s.Steps)-1] },
		"a further step":   func(s *story.Story) { s.Steps = append(s.Steps, s.Steps[0]) },
		"a definition too": func(s *story.Story) { s.Definition = "{}" },
	} {
		other := asked()
		change(&other)
		if _, err := Load(folder, "table", other); !errors.Is(err, ErrOtherRequests) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Doubtful = true
	if _, err := Load(recordedTo(t, s, replies[:1]), "table", s); err != nil {
		t.Errorf("a story that ends with its definition: %v", err)
	}
	if Save(folder, "table", story.Story{Name: "none"}, replies) == nil {
		t.Error("there are replies to nothing")
	}
}

func TestObjectsAreWhatSetsThemOffFromAnother(t *testing.T) {
	const from = `{"a":{"b":1,"c":[1,{"d":2}],"e.f":{"-g":null}},"h":"x, -y: \"z\"}","i":[]}`
	for _, to := range []string{
		from, `{}`, `{"a":{"b":2.50,"c":[1,{"d":2,"more":{"x":[]}}],"e.f":{}},"h":"x, y: }","i":[]}`,
		`{"a":{"b":{"1":1},"c":[1],"e.f":{"-g":true,"":{"\u2028":1}}},"h":null,"i":[1]}`, `{"a":null,"h":{"h":"h"},"i":{}}`, `{"é":1,"a.b":{"c":{}},"a":{"c":[2,{"d":{}}]}}`,
	} {
		a, _, err := decode(from)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := decode(to)
		if err != nil {
			t.Fatal(err)
		}
		text := less("it", a.(map[string]any), b.(map[string]any))
		got, err := more(a.(map[string]any), strings.TrimPrefix(text, "{...it"))
		if err != nil || encode(got) != encode(b) {
			t.Errorf("%s is read as\n%s, %v, want\n%s", text, encode(got), err, to)
		}
	}
	for _, text := range []string{"", ", ", ", a}", ", a: }", ", a: 1", ", a: 1x}", ", x.y: 1}", ", -i.0}", ", i.7: 1}", `, "a: 1}`, ", a.c.x: 1}", ", a.: 1}", ", --a}"} {
		a, _, err := decode(from)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := more(a.(map[string]any), text); err == nil {
			t.Errorf("%q is read as %s", text, encode(got))
		}
	}
}

func TestRepliesAreSetOffFromTheFirstOfTheirKind(t *testing.T) {
	object := func(name, kind string) string {
		return `{"code":200,"body":{"apiVersion":"v1","data":{"a":"` + strings.Repeat("x", 100) + `"},"kind":"` + kind + `","metadata":{"name":"` + name + `"}}}`
	}
	s := asked()
	replies := []string{object("one", "Thing"), object("two", "Thing"), object("two", "Thing"), object("one", "Thing"), object("one", "Other"), object("three", "Thing")}
	s.Steps = s.Steps[:len(replies)]
	folder := recordedTo(t, s, replies)
	if got, err := Load(folder, "table", s); err != nil || !slices.Equal(got.Replies, replies) {
		t.Errorf("got %q, %v", got.Replies, err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "table", "a-story.txt"))
	first, second := digest(replies[0]), digest(replies[1])
	for _, line := range []string{"> 200 [" + second + "] {..." + first + `, metadata.name: "two"}`, "> 200 [" + second + "]", "> 200 [" + first + "]", "> 200 {..." + first + `, metadata.name: "three"}`} {
		if err != nil || !strings.Contains(string(text), line+"\n") {
			t.Errorf("there is no line %s in\n%s, %v", line, text, err)
		}
	}
}
