package conversion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/convtest"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// convertFunc is a converter for tests.
type convertFunc func(desired string, objects [][]byte) ([][]byte, error)

func (f convertFunc) Convert(_ context.Context, desired string, objects [][]byte) ([][]byte, error) {
	return f(desired, objects)
}
func (convertFunc) Epoch() uint64 { return 0 }

func TestNone_CRD10(t *testing.T) {
	convtest.Run(t, convtest.Subject{None: true, New: func(*testing.T) conversion.Converter { return conversion.None{} }})
}

func TestNoneChangesNothingElse_CRD10(t *testing.T) {
	in := ` {"kind":"A", "apiVersion" : "g/v1" ,"x":{"apiVersion":"g/v1"}, "n":1.00} `
	out, err := conversion.None{}.Convert(t.Context(), "g/v2", [][]byte{[]byte(in)})
	want := ` {"kind":"A", "apiVersion" : "g/v2" ,"x":{"apiVersion":"g/v1"}, "n":1.00} `
	if err != nil || string(out[0]) != want {
		t.Errorf("got %s, %v", out, err)
	}
}

const original = `{"apiVersion":"example.com/v1beta1","kind":"Conv","metadata":{"annotations":{"k":"v"},"creationTimestamp":"2026-11-21T08:38:56Z","finalizers":["f"],"name":"a","namespace":"default","resourceVersion":"7","uid":"2fd0"},"x":1}`

// reply makes a converter that returns the original with replacements.
func reply(pairs ...string) convertFunc {
	pairs = append([]string{"example.com/v1beta1", "example.com/v1"}, pairs...)
	return func(_ string, objects [][]byte) ([][]byte, error) {
		var out [][]byte
		for _, o := range objects {
			s := string(o)
			for i := 0; i < len(pairs); i += 2 {
				s = strings.ReplaceAll(s, pairs[i], pairs[i+1])
			}
			out = append(out, []byte(s))
		}
		return out, nil
	}
}

// The messages are kube-apiserver 1.36's, as it sent them for a webhook that
// replied the same.
func TestRefusedReplies_CRD16_CRD17(t *testing.T) {
	const prefix = "conversion webhook for example.com/v1beta1, Kind=Conv "
	label := "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	for _, c := range []struct {
		name      string
		converter convertFunc
		want      string
	}{
		{"group version", reply("example.com/v1", "example.org/v9"), prefix + "returned invalid object at index 0: invalid groupVersion (expected example.com/v1, received example.org/v9)"},
		{"kind", reply(`"Conv"`, `"Other"`), prefix + "returned invalid object at index 0: invalid kind (expected Conv, received Other)"},
		{"no kind", reply(`"kind":"Conv",`, ``, original, ``), "Object 'Kind' is missing in '" + strings.Replace(strings.Replace(original, `"kind":"Conv",`, ``, 1), "v1beta1", "v1", 1) + "'"},
		{"name", reply(`"name":"a"`, `"name":"x"`), prefix + "returned invalid object: must have the same name: a != x"},
		{"namespace", reply(`"default"`, `"x"`), prefix + "returned invalid object: must have the same namespace: default != x"},
		{"uid", reply(`2fd0`, `x`), prefix + "returned invalid object: must have the same UID: 2fd0 != x"},
		{"no metadata", reply(original[strings.Index(original, `"metadata"`):], `"x":1}`), prefix + "returned invalid object: must have the same name: a != "},
		{"string object", func(string, [][]byte) ([][]byte, error) { return [][]byte{[]byte(`"foo"`)}, nil }, "json: cannot unmarshal string into Go value of type map[string]interface {}"},
		{"null object", func(string, [][]byte) ([][]byte, error) { return [][]byte{[]byte(`null`)}, nil }, "unexpected end of JSON input"},
		{"none", func(string, [][]byte) ([][]byte, error) { return nil, nil }, prefix + "returned 0 objects, expected 1"},
		{"two", func(_ string, o [][]byte) ([][]byte, error) { return append(o, o...), nil }, prefix + "returned 2 objects, expected 1"},
		{"label key", reply(`"annotations":{"k":"v"}`, `"labels":{"a b":"c"}`), prefix + `returned invalid metadata: metadata.labels: Invalid value: "a b": ` + label},
		{"label type", reply(`"annotations":{"k":"v"}`, `"labels":{"a":1}`), prefix + "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object"},
		{"labels type", reply(`"annotations":{"k":"v"}`, `"labels":"x"`), prefix + "returned invalid metadata: invalid metadata.labels of type string in converted object"},
		{"annotation key", reply(`{"k":"v"}`, `{"a b":"c"}`), prefix + `returned invalid metadata: metadata.annotation: Invalid value: "a b": ` + label},
		{"failed", func(string, [][]byte) ([][]byte, error) { return nil, errors.New("my message") }, prefix + "failed: my message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := checked(t, c.converter).Convert(t.Context(), "example.com/v1", [][]byte{[]byte(original)})
			if err == nil || err.Error() != c.want {
				t.Fatalf("got  %v\nwant %s", err, c.want)
			}
			var typed *conversion.Error
			if !errors.As(err, &typed) || typed.From != "example.com/v1beta1" || typed.To != "example.com/v1" || typed.Objects[0] != "default/a" {
				t.Errorf("error is %#v", err)
			}
		})
	}
}

func TestBatchErrorsNameTheObject_CRD16(t *testing.T) {
	other := strings.ReplaceAll(original, `"name":"a"`, `"name":"b"`)
	_, err := conversion.Checked(reply(`"name":"b"`, `"name":"x"`)).Convert(t.Context(), "example.com/v1",
		[][]byte{[]byte(original), []byte(other)})
	want := "conversion webhook for example.com/v1beta1, Kind=Conv returned invalid converted object at index 1: must have the same name: b != x"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestMetadataIsRestored_CRD17(t *testing.T) {
	for name, c := range map[string]struct{ meta, want string }{
		"everything else":     {`{"name":"a","namespace":"default","uid":"2fd0","finalizers":[],"resourceVersion":"1","ownerReferences":[{}],"annotations":{"k":"v"}}`, `{"annotations":{"k":"v"},"creationTimestamp":"2026-11-21T08:38:56Z","finalizers":["f"],"name":"a","namespace":"default","resourceVersion":"7","uid":"2fd0"}`},
		"labels added":        {`{"name":"a","namespace":"default","uid":"2fd0","annotations":{"k":"v"},"labels":{"l":"1"}}`, `{"annotations":{"k":"v"},"creationTimestamp":"2026-11-21T08:38:56Z","finalizers":["f"],"labels":{"l":"1"},"name":"a","namespace":"default","resourceVersion":"7","uid":"2fd0"}`},
		"annotations changed": {`{"annotations":{"k":"w","n":"\u00e9"},"uid":"2fd0","namespace":"default","name":"a"}`, `{"annotations":{"k":"w","n":"\u00e9"},"creationTimestamp":"2026-11-21T08:38:56Z","finalizers":["f"],"name":"a","namespace":"default","resourceVersion":"7","uid":"2fd0"}`},
		"annotations dropped": {`{"annotations":null,"name":"a","namespace":"default","uid":"2fd0"}`, `{"creationTimestamp":"2026-11-21T08:38:56Z","finalizers":["f"],"name":"a","namespace":"default","resourceVersion":"7","uid":"2fd0"}`},
		"escaped keys":        {`{"n\u0061me":"a","namespace":"d\u0065fault","uid":"2fd0","l\u0061bels":{"l":"1"}}`, `{"creationTimestamp":"2026-11-21T08:38:56Z","finalizers":["f"],"labels":{"l":"1"},"name":"a","namespace":"default","resourceVersion":"7","uid":"2fd0"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := `{"apiVersion":"example.com/v1","kind":"Conv","metadata":` + c.meta + `,"y":2}`
			out, err := conversion.Checked(convertFunc(func(string, [][]byte) ([][]byte, error) { return [][]byte{[]byte(got)}, nil })).
				Convert(t.Context(), "example.com/v1", [][]byte{[]byte(original)})
			want := `{"apiVersion":"example.com/v1","kind":"Conv","metadata":` + c.want + `,"y":2}`
			if err != nil || string(out[0]) != want {
				t.Errorf("got  %s %v\nwant %s", out, err, want)
			}
		})
	}
}

// A converter may give an object as many labels as kube-apiserver takes of one; where
// they are wrong a refusal tells some of them, which are not put together of all.
func TestManyLabelsOfAConverter_CRD17(t *testing.T) {
	converted := func(end string) ([][]byte, error) {
		var labels []string
		for n := range 20000 {
			labels = append(labels, fmt.Sprintf(`"l%05d%s":"1"`, n, end))
		}
		got := `{"apiVersion":"example.com/v1","kind":"Conv","metadata":{"name":"a","namespace":"default","uid":"2fd0","labels":{` + strings.Join(labels, ",") + `}}}`
		return conversion.Checked(convertFunc(func(string, [][]byte) ([][]byte, error) { return [][]byte{[]byte(got)}, nil })).
			Convert(t.Context(), "example.com/v1", [][]byte{[]byte(original)})
	}
	if out, err := converted(""); err != nil || strings.Count(string(out[0]), `":"1"`) != 20000 {
		t.Errorf("%d objects, %v", len(out), err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := converted("!")
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; err == nil || made > 1<<30 || !strings.Contains(err.Error(), "metadata.labels: Invalid value") {
		t.Errorf("%d MB were made of a refusal of %d bytes", made>>20, len(fmt.Sprint(err)))
	}
}

// Labels go to their place also where nothing of the original comes after it.
func TestLabelsComeLastWhereNothingFollows_CRD17(t *testing.T) {
	const in = `{"apiVersion":"example.com/v1beta1","kind":"Conv","metadata":{"generation":1}}`
	got := `{"apiVersion":"example.com/v1","kind":"Conv","metadata":{"labels":{"l":"1"},"annotations":{"a":"1"}}}`
	out, err := conversion.Checked(convertFunc(func(string, [][]byte) ([][]byte, error) { return [][]byte{[]byte(got)}, nil })).
		Convert(t.Context(), "example.com/v1", [][]byte{[]byte(in)})
	want := `{"apiVersion":"example.com/v1","kind":"Conv","metadata":{"annotations":{"a":"1"},"generation":1,"labels":{"l":"1"}}}`
	if err != nil || string(out[0]) != want {
		t.Errorf("got  %s %v\nwant %s", out, err, want)
	}
}

// What is no object is refused, even where the original has the same.
func TestLabelsOfAWrongTypeAreRefusedUnchanged_CRD17(t *testing.T) {
	for _, labels := range []string{`5`, `[]`, `"x"`} {
		in := strings.Replace(original, `{"k":"v"}`, labels, 1)
		_, err := conversion.Checked(reply()).Convert(t.Context(), "example.com/v1", [][]byte{[]byte(in)})
		if err == nil || !strings.Contains(err.Error(), "invalid metadata.annotations of type ") {
			t.Errorf("%s: %v", labels, err)
		}
	}
}

func TestSmuggledDuplicatesAreRefused_CRD17(t *testing.T) {
	for _, extra := range []string{`"kind":"Other"`, `"metadata":{}`, `"m\u0065tadata":{}`, `"apiVersion":"x"`, `"y":1,"y":2`, `"spec":{},"sp\u0065c":{}`, many(17) + `,"k3":0`, many(16) + `,"k3":0`, many(17) + `,"k\u0030":0`, many(20) + `,"k18":0`, `"\u0079":1,"y":2`, `"y":1,"\u0079":2`} {
		_, err := checked(t, reply(`"x":1`, extra)).Convert(t.Context(), "example.com/v1", [][]byte{[]byte(original)})
		if err == nil || !strings.Contains(err.Error(), "duplicate field") {
			t.Errorf("%s: %v", extra, err)
		}
	}
}

// many are n members with different keys.
func many(n int) string {
	var members []string
	for i := range n {
		members = append(members, fmt.Sprintf(`"k%d":%d`, i, i))
	}
	return strings.Join(members, ",")
}

func TestManyDifferentMembersAreAccepted_CRD17(t *testing.T) {
	for _, n := range []int{15, 16, 17, 18, 100} {
		_, err := conversion.Checked(reply(`"x":1`, many(n))).Convert(t.Context(), "example.com/v1", [][]byte{[]byte(original)})
		if err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestErrorsAreBoundedAndLogsQuoteNothing(t *testing.T) {
	const secret = "what nobody may see"
	long := strings.Repeat("é", 3<<20/2)
	for name, c := range map[string]struct {
		converter convertFunc
		want      string // of the log text
	}{
		"no kind":  {reply(`"kind":"Conv",`, ``, `"x":1`, `"x":"`+secret+long+`"`), "JSON is not that of an object of any kind"},
		"label":    {reply(`"annotations":{"k":"v"}`, `"labels":{"l":"`+secret+`"}`), "metadata is invalid"},
		"name":     {reply(`"name":"a"`, `"name":"`+secret+long+`"`), "name, namespace, uid or size is wrong"},
		"kind":     {reply(`"Conv"`, `"`+secret+long+`"`), "apiVersion or kind is wrong"},
		"repeated": {reply(`"x":1`, `"`+secret+long+`":1,"`+secret+long+`":1`), "JSON is not that of an object of any kind"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := checked(t, c.converter).Convert(t.Context(), "example.com/v1", [][]byte{[]byte(original)})
			var typed *conversion.Error
			if !errors.As(err, &typed) || !strings.Contains(err.Error(), secret) {
				t.Fatalf("got %.200v", err)
			}
			if n := len(err.Error()); n > 8<<10+len("...") || len(typed.Reason) != n || !utf8.ValidString(err.Error()) {
				t.Errorf("the message has %d bytes", n)
			}
			want := "conversion webhook for example.com/v1beta1, Kind=Conv returned an object, at index 0, whose " + c.want
			if typed.LogText() != want {
				t.Errorf("logged: %.300s\nwant %s", typed.LogText(), want)
			}
		})
	}
	err := error(&conversion.Error{Reason: "conversion webhook failed"})
	if got := err.(*conversion.Error).LogText(); got != "conversion webhook failed" {
		t.Errorf("logged: %s", got)
	}
}

// FuzzChecked: whatever a converter replies, what is accepted is valid JSON
// with the identity and the metadata of the original.
func FuzzChecked(f *testing.F) {
	f.Add([]byte(original))
	f.Add([]byte(`{"apiVersion":"example.com/v1","kind":"Conv","metadata":{"name":"a","namespace":"default","uid":"2fd0","labels":{"a":"b"}},"z":[]}`))
	f.Add([]byte(`{"apiVersion":"example.com/v1","kind":"Conv","metadata":{"name":"a","namespace":"default","uid":"2fd0","labels":null,"labels":{"a":"b"}}}`))
	var had struct {
		Metadata map[string]any `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(original), &had); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		replies := convertFunc(func(string, [][]byte) ([][]byte, error) { return [][]byte{data}, nil })
		c := conversion.Checked(replies)
		if end, err := rawjson.Skip(data, 0); err == nil && end == len(data) {
			c = checked(t, replies)
		}
		out, err := c.Convert(context.Background(), "example.com/v1", [][]byte{[]byte(original)})
		if err != nil {
			return
		}
		var got map[string]any
		if err := json.Unmarshal(out[0], &got); err != nil || !utf8.Valid(out[0]) {
			t.Fatalf("accepted %q as %q: %v", data, out[0], err)
		}
		meta, _ := got["metadata"].(map[string]any)
		if got["apiVersion"] != "example.com/v1" || got["kind"] != "Conv" {
			t.Fatalf("accepted %q", data)
		}
		for k, v := range had.Metadata {
			if k != "annotations" && !reflect.DeepEqual(meta[k], v) {
				t.Fatalf("metadata.%s is %v in %q", k, meta[k], out[0])
			}
		}
	})
}

// readFunc is a convertFunc whose replies were read.
type readFunc struct{ convertFunc }

func (readFunc) ReadsReplies() {}

// checked is conversion.Checked for a converter whose replies are JSON, each
// accepted or refused in the same words when that is known already.
func checked(t testing.TB, f convertFunc) conversion.Converter {
	return convertFunc(func(desired string, objects [][]byte) ([][]byte, error) {
		out, err := conversion.Checked(f).Convert(t.Context(), desired, objects)
		again, known := conversion.Checked(readFunc{f}).Convert(t.Context(), desired, objects)
		if fmt.Sprintf("%s %v", out, err) != fmt.Sprintf("%s %v", again, known) {
			t.Errorf("of what was not read, and what was, came\n%s, %v\n%s, %v", out, err, again, known)
		}
		return out, err
	})
}

func BenchmarkChecked(b *testing.B) {
	in := [][]byte{convtest.Object(1, convtest.V1beta1)}
	out := [][]byte{convtest.Object(1, convtest.V1)}
	c := conversion.Checked(convertFunc(func(string, [][]byte) ([][]byte, error) { return out, nil }))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Convert(b.Context(), convtest.V1, in); err != nil {
			b.Fatal(err)
		}
	}
}
