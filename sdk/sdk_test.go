package sdk

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// The kinds below keep these tests apart from each other.
func init() {
	chain := For("Chain")
	hop := func(from, to string) {
		chain.Convert(from, to, func(o *Object) error {
			via, _ := o.At("via").String()
			return o.At("via").SetString(via + ">" + to)
		})
	}
	hop("v1alpha1", "v1beta1")
	hop("v1beta1", "v1")
	hop("v1", "v2")
	hop("v1beta1", "v1beta2")
	hop("v1beta2", "v2beta1")
	hop("v2beta1", "v2")
	hop("v2", "v1")
	For("Failing").Convert("v1", "v2", func(*Object) error { return errors.New("cannot be done") })

	type old struct {
		Spec struct {
			HostPort string `json:"hostPort"`
		} `json:"spec"`
	}
	type metadata struct {
		Labels map[string]string `json:"labels,omitempty"`
	}
	type current struct {
		Metadata metadata `json:"metadata"`
		Host     string   `json:"host"`
	}
	For("Typed").Convert("v1", "v2", Typed(func(in *old, out *current) error {
		out.Host = in.Spec.HostPort
		out.Metadata.Labels = map[string]string{"was": "v1"}
		return nil
	}))
}

func TestApply(t *testing.T) {
	for name, c := range map[string]struct{ in, to, want, err string }{
		"shortest chain": {
			in: `{"apiVersion":"g/v1alpha1","kind":"Chain"}`, to: "g/v2",
			want: `{"apiVersion":"g/v2","kind":"Chain","via":">v1beta1>v1>v2"}`},
		"already there": {in: `{"apiVersion":"g/v2","kind":"Chain"}`, to: "g/v2", want: `{"apiVersion":"g/v2","kind":"Chain"}`},
		"no way back": {in: `{"apiVersion":"g/v2","kind":"Chain","metadata":{"name":"n"}}`, to: "g/v1alpha1",
			err: "Chain n: this module has no conversion from v2 to v1alpha1"},
		"other group": {in: `{"apiVersion":"g/v2","kind":"Chain","metadata":{"name":"n","namespace":"s"}}`, to: "h/v1",
			err: "Chain s/n: cannot convert from group g to group h"},
		"fails": {in: `{"apiVersion":"g/v1","kind":"Failing","metadata":{"name":"n","namespace":"s"}}`, to: "g/v2",
			err: "Failing s/n: cannot be done"},
		"typed": {
			in: `{"apiVersion":"g/v1","kind":"Typed","metadata":{"name":"n","uid":"u","annotations":{"a":"b"}},"spec":{"hostPort":"h:1"},"gone":1}`, to: "g/v2",
			want: `{"apiVersion":"g/v2","metadata":{"name":"n","uid":"u","annotations":{"a":"b"},"labels":{"was":"v1"}},"host":"h:1","kind":"Typed"}`},
		"not JSON": {in: `{"apiVersion"`, to: "g/v2", err: "not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := Apply([]byte(c.in), c.to)
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("got  %v\nwant %s", err, c.err)
				}
			} else if err != nil || string(out) != c.want {
				t.Errorf("got  %s %v\nwant %s", out, err, c.want)
			}
		})
	}
}

func TestFields(t *testing.T) {
	const text = `{"s":"a\"b","i":-7,"f":1.5,"b":true,"n":null,"o":{"x":{"y":1}},"l":[{"v":1},{"v":2},3]}`
	edit := func(fn func(o *Object) error) string {
		t.Helper()
		o, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := fn(o); err != nil {
			t.Fatal(err)
		}
		return string(o.JSON())
	}
	replaced := func(old, new string) string { return strings.Replace(text, old, new, 1) }
	for _, c := range []struct {
		name string
		fn   func(o *Object) error
		want string
	}{
		{"nothing", func(*Object) error { return nil }, text},
		{"replace", func(o *Object) error { return o.At("i").SetInt(8) }, replaced("-7", "8")},
		{"replace deep", func(o *Object) error { return o.At("o", "x", "y").SetBool(false) }, replaced(`"y":1`, `"y":false`)},
		{"make", func(o *Object) error { return o.At("new", "a b", "c").SetString("é\n") }, replaced(`3]}`, `3],"new":{"a b":{"c":"é\n"}}}`)},
		{"make in null", func(o *Object) error { return o.At("n", "x").SetInt(1) }, replaced(`null`, `{"x":1}`)},
		{"delete", func(o *Object) error { o.At("o", "x", "y").Delete(); o.At("nope", "x").Delete(); return nil }, replaced(`{"y":1}`, `{}`)},
		{"move", func(o *Object) error { return o.At("o", "x").MoveTo("moved") }, strings.TrimSuffix(replaced(`{"x":{"y":1}}`, `{}`), `}`) + `,"moved":{"y":1}}`},
		{"move nothing", func(o *Object) error { return o.At("nope").MoveTo("moved") }, text},
		{"element", func(o *Object) error { return o.At("l", "1", "v").SetInt(9) }, replaced(`{"v":2}`, `{"v":9}`)},
		{"each", func(o *Object) error {
			return o.At("l").Each(func(i int, e *Object) error { return e.At("i").SetInt(int64(i)) })
		}, replaced(`{"v":1},{"v":2}`, `{"i":0,"v":1},{"i":1,"v":2}`)},
		{"encode", func(o *Object) error { return o.At("s").Encode(map[string]int{"a": 1}) }, replaced(`"a\"b"`, `{"a":1}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := edit(c.fn); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	o, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, ok := o.At("s").String()
	i, ok2 := o.At("i").Int()
	f, ok3 := o.At("f").Float()
	b, ok4 := o.At("b").Bool()
	if s != `a"b` || i != -7 || f != 1.5 || !b || !ok || !ok2 || !ok3 || !ok4 || o.At("l").Len() != 3 {
		t.Errorf("got %q %d %v %v", s, i, f, b)
	}
	for _, path := range [][]string{{"nope"}, {"s", "x"}, {"l", "3"}, {"l", "x"}} {
		if o.At(path...).Exists() {
			t.Errorf("%v exists", path)
		}
	}
	if err := o.At("s", "x").SetInt(1); err == nil || err.Error() != "s is not an object" {
		t.Errorf("set below a string: %v", err)
	}
	if err := o.At("i").MoveTo("s", "x"); err == nil {
		t.Error("move below a string succeeds")
	}
	if i, ok := o.At("i").Int(); !ok || i != -7 {
		t.Error("a failed move lost the field")
	}
}

func TestHandleConversion_CRD14_CRD15(t *testing.T) {
	review := func(order string) string {
		objects := `"objects":[{"apiVersion":"g/v1","kind":"Chain","metadata":{"name":"a"}},{"apiVersion":"g/v1beta1","kind":"Chain"}]`
		request := `"uid":"u1","desiredAPIVersion":"g/v2",` + objects
		if order == "sorted" {
			request = `"desiredAPIVersion":"g/v2",` + objects + `,"uid":"u1"`
		} else if order == "objects first" {
			request = objects + `,"uid":"u1","desiredAPIVersion":"g/v2"`
		}
		return `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1","request":{` + request + `}}`
	}
	for _, order := range []string{"", "sorted", "objects first"} {
		got := string(HandleConversion([]byte(review(order))))
		want := `{"kind":"ConversionReview","response":{"convertedObjects":[{"apiVersion":"g/v2","kind":"Chain","metadata":{"name":"a"},"via":">v2"},` +
			`{"apiVersion":"g/v2","kind":"Chain","via":">v1>v2"}],"result":{"status":"Success"},"uid":"u1"},"apiVersion":"apiextensions.k8s.io/v1beta1"}`
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", order, got, want)
		}
	}
	failing := strings.Replace(review("sorted"), `"Chain"}`, `"Unknown"}`, 1)
	want := `{"kind":"ConversionReview","response":{"result":{"status":"Failed","message":"Unknown : this module has no conversion from v1beta1 to v2"},"uid":"u1"},"apiVersion":"apiextensions.k8s.io/v1beta1"}`
	if got := string(HandleConversion([]byte(failing))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzHandleConversion(f *testing.F) {
	f.Add([]byte(`{"request":{"uid":"u","desiredAPIVersion":"g/v2","objects":[{"apiVersion":"g/v1","kind":"Chain"}]}}`))
	f.Add([]byte(`{"request":{"objects":[{}],"desiredAPIVersion":""}}`))
	f.Fuzz(func(t *testing.T, request []byte) {
		reply := HandleConversion(request)
		if json.Valid(request) && !json.Valid(reply) {
			t.Fatalf("%q gives %q", request, reply)
		}
	})
}
