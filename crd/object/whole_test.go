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
