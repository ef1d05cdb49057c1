package object

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// An integer that was written with a point or an exponent is none to a Go type, until
// the tree has been converted.
func TestWhatIsWrittenWithAPointIsNoInteger(t *testing.T) {
	for in, refused := range map[string]bool{
		`{"spec":{"replicas":2}}`:    false,
		`{"spec":{"replicas":2.0}}`:  true,
		`{"spec":{"replicas":-0.0}}`: true,
		`{"spec":{"replicas":2e3}}`:  true,
		`{"spec":{"template":{"spec":{"containers":[{"name":"c"},{"ports":[{"containerPort":8.0}]}]}}}}`: true,
	} {
		tree := parsed(t, in)
		_, err := DecodeTyped(tree, new(appsv1.Deployment))
		if got := err != nil && strings.Contains(err.Error(), "json: cannot unmarshal number "); got != refused {
			t.Errorf("%s: %v", in, err)
		}
		WholeIntegers(tree)
		if _, err := DecodeTyped(tree, new(appsv1.Deployment)); err != nil {
			t.Errorf("%s, converted: %v", in, err)
		}
	}
}

// Only whole numbers that an integer can be become one, and nothing else is touched.
func TestWholeIntegers(t *testing.T) {
	tree := parsed(t, `{"a":1.0,"b":[2.0,2.5,null,"x",[3e0]],"c":{"d":-4.0,"e":1e300,"f":9223372036854775808,"g":true},"h":null}`)
	before, err := EncodeTyped(tree)
	if err != nil || string(before) != `{"a":1.0,"b":[2.0,2.5,null,"x",[3.0]],"c":{"d":-4.0,"e":1e+300,"f":9223372036854776000,"g":true},"h":null}` {
		t.Errorf("%s, %v", before, err)
	}
	WholeIntegers(tree)
	for path, v := range map[string]any{"a": tree["a"], "b": tree["b"].([]any)[0], "b.4": tree["b"].([]any)[4].([]any)[0], "c.d": Child(tree, "c")["d"]} {
		if _, ok := v.(int64); !ok {
			t.Errorf("%s is a %T", path, v)
		}
	}
	for _, name := range []string{"e", "f"} {
		if _, ok := Child(tree, "c")[name].(float64); !ok {
			t.Errorf("c.%s is a %T", name, Child(tree, "c")[name])
		}
	}
}

// The metadata of an object is replaced in place, and of what has none that cannot be.
func TestMetadataIsReplaced(t *testing.T) {
	const before = `{"kind":"A","metadata":{"name":"a"},"spec":{"metadata":{"x":1}}}`
	for want, meta := range map[string]map[string]any{
		`{"kind":"A","metadata":{"name":"b","uid":"u"},"spec":{"metadata":{"x":1}}}`: {"name": "b", "uid": "u"},
		`{"kind":"A","metadata":null,"spec":{"metadata":{"x":1}}}`:                   nil,
	} {
		if got, err := WithMetadata([]byte(before), meta); err != nil || string(got) != want || cap(got) == len(got) {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	for _, text := range []string{"", "[", `{"kind":"A"}`, `{"metadata":3}`, `{"metadata":}`} {
		if got, err := WithMetadata([]byte(text), nil); err == nil || got != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	if got, err := WithMetadata([]byte(before), map[string]any{"a": func() {}}); err == nil || got != nil {
		t.Errorf("%s, %v", got, err)
	}
}

// A revision is said in metadata, which is made where there is none; 0 is not said.
func TestRevisionsAreSaid(t *testing.T) {
	for _, c := range []struct {
		before, want string
		rev          int64
	}{
		{`{}`, `{"metadata":{"resourceVersion":"7"}}`, 7},
		{`{"metadata":{"resourceVersion":"3"}}`, `{"metadata":{"resourceVersion":"7"}}`, 7},
		{`{"metadata":{"resourceVersion":"3"}}`, `{"metadata":{}}`, 0},
		{`{"metadata":3}`, `{"metadata":{}}`, 0},
	} {
		tree, _, err := Parse([]byte(c.before))
		if err != nil {
			t.Fatal(err)
		}
		SetRevision(tree, c.rev)
		if got, err := Encode(tree); err != nil || string(got) != c.want {
			t.Errorf("%s at %d: %s, %v", c.before, c.rev, got, err)
		}
	}
}
