package object

import (
	"reflect"
	"testing"
)

// Trees are looked into however little of them is there.
func TestTreesAreLookedInto(t *testing.T) {
	tree := map[string]any{"a": map[string]any{"b": "c", "n": int64(1)}, "list": []any{map[string]any{"x": "y"}, 7, nil, map[string]any{}}, "s": "t"}
	for want, path := range map[string][]string{"c": {"a", "b"}, "t": {"s"}} {
		if got := TextAt(tree, path...); got != want {
			t.Errorf("at %v is %q, want %q", path, got, want)
		}
	}
	for _, path := range [][]string{{"a", "n"}, {"a", "x"}, {"x", "y", "z"}, {"s", "t"}, {"a"}} {
		if got := TextAt(tree, path...); got != "" {
			t.Errorf("at %v is %q", path, got)
		}
	}
	if got := Objects(tree["list"]); !reflect.DeepEqual(got, []map[string]any{{"x": "y"}, {}}) {
		t.Errorf("objects are %v", got)
	}
	if got := Objects(tree["a"]); got != nil {
		t.Errorf("of what is no list are %v", got)
	}
	if got := Ensure(tree, "a"); got["b"] != "c" {
		t.Errorf("what was there is %v", got)
	}
	Ensure(tree, "s")["new"] = true
	if got := Child(tree, "s", "new"); got != nil || !reflect.DeepEqual(tree["s"], map[string]any{"new": true}) {
		t.Errorf("what was made is %v", tree["s"])
	}
}

// A field that is kept is a copy; one that was not there goes.
func TestFieldsAreKept(t *testing.T) {
	old := map[string]any{"kept": map[string]any{"a": "b"}, "null": nil}
	obj := map[string]any{"kept": "changed", "null": 1, "new": 1}
	for _, name := range []string{"kept", "null", "new"} {
		Keep(obj, old, name)
	}
	if want := map[string]any{"kept": map[string]any{"a": "b"}, "null": nil}; !reflect.DeepEqual(obj, want) {
		t.Errorf("kept is %v", obj)
	}
	obj["kept"].(map[string]any)["a"] = "c"
	if TextAt(old, "kept", "a") != "b" {
		t.Error("what is kept is shared")
	}
}

// The fields of an encoded object come in their order, until nobody wants more.
func TestEachFieldOfAnObject(t *testing.T) {
	for text, want := range map[string]struct {
		names []string
		ok    bool
	}{
		`{"b":1,"a\"":{"c":2}}`: {[]string{"b", `a"`}, true}, `{}`: {nil, true}, `[1]`: {nil, false}, `7`: {nil, false}, ``: {nil, false}, `{"b":1,"stop":2,"c":3}`: {[]string{"b"}, false}, `{"b":1,`: {[]string{"b"}, false},
	} {
		var names []string
		ok := EachField([]byte(text), func(name string, value []byte) bool {
			if name == "stop" {
				return false
			}
			names = append(names, name)
			return len(value) > 0
		})
		if ok != want.ok || !reflect.DeepEqual(names, want.names) {
			t.Errorf("%s: %q, %t", text, names, ok)
		}
	}
}
