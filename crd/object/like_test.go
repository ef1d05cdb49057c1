package object

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// What is parsed like another object is what it is by itself, whatever the
// other one says, and whatever is not in its tree any more.
func TestParsedLikeAnotherItIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{
		`{}`, `{"a":1}`, `{"a":12}`, `{"a":1,"a":2}`, `{"a":{"b":{"c":{"d":{"e":{"f":1}}}}}}`, `{"a":{"b":{"c":{"d":{"e":{"f":2}}}}}}`,
		`{"a\n":1}`, `{"a\\n":1}`, `{"a":"x","b":{"c":1}}`, `{"a":{"c":1},"b":"x"}`, `{"a":[{"b":1}],"b":{"a":[1]}}`, `{"b":{"a":[1]},"a":[{"b":2}]}`,
		`{"metadata":{"managedFields":[` + entry + `],"name":"n"},"spec":{"x":1}}`, `{"metadata":{"managedFields":[` + entry + `],"name":"m"},"spec":{"x":1}}`,
		`{"metadata":{"name":"n"},"spec":{"x":1,"y":"` + "\xff" + `"}}`, `{"metadata":{"name":"n","managedFields":{}},"spec":{"managedFields":[` + entry + `]}}`,
		`{"aB":"old"}`, `{"aB":"old","a\u0042":"new"}`, `{"a\u0042":"new","aB":"old"}`, `{"\u0061":{"b":1},"a":{"b":2}}`, `{"a":1,"\u0061":2}`, `{"a":{"c":1},"\u0061":{"c":2}}`,
		"{\"\xfe\":1,\"\xff\":2}", "{\"\xfe\":1}", "{\"\xff\":1}", `{"\ud800":1,"\ud801":2}`, `{"\ud800":1}`, `{"spec":{"aB":"old"}}`, `{"spec":{"aB":"old","a\u0042":"new"}}`,
		` { "a" : 1 , "b" : {} }`, `{"a":1.5,"b":1e3}`, `{"a":null,"b":true,"c":""}`, `{"a":{},"b":{"c":{}}}`, `{"a":"{","b":{"c":{"d":1}}}`,
	}
	for range 3000 {
		texts = append(texts, "{"+fieldsLike(r, 3)+"}")
	}
	for range 60000 {
		data, other := texts[r.IntN(len(texts))], texts[r.IntN(len(texts))]
		if r.IntN(2) == 0 {
			other = strings.Replace(data, "1", "2", 1)
		}
		want, _, err := ParseObject([]byte(data))
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		like, _, err := ParseObject([]byte(other))
		if err != nil {
			t.Fatalf("%s: %v", other, err)
		}
		detached := r.IntN(2) == 0
		if detached {
			Detach(like)
		}
		got, _, err := ParseLike([]byte(data), Text{[]byte(other), like})
		if detached { // they may or may not be there
			Detach(got)
			Detach(want)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s like %s: %v, %v", data, other, got, err)
		}
	}
}

// One field may be spelt in two ways in the other one's text, of which its tree has the
// last.
func TestFieldsWithTwoSpellings(t *testing.T) {
	for data, other := range map[string]string{
		`{"aB":"old"}`:             `{"aB":"old","a\u0042":"new"}`,
		`{"spec":{"aB":"old"}}`:    `{"spec":{"aB":"old","a\u0042":"new"}}`,
		`{"spec":{"aB":"old"} }`:   `{"spec":{"aB":"old"},"spe\u0063":{"aB":"new"}}`,
		"{\"\xfe\":\"old\"}":       "{\"\xfe\":\"old\",\"\xff\":\"new\"}",
		`{"\ud800":"old","z":"z"}`: `{"\ud800":"old","\ud801":"new"}`,
	} {
		want, _, err := ParseObject([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := ParseLike([]byte(data), Text{[]byte(other), parsed(t, other)})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s like %s: %v, %v", data, other, got, err)
		}
	}
}

func fieldsLike(r *rand.Rand, depth int) string {
	var fields []string
	for _, name := range []string{"a", "b", "managedFields", "metadata", `\u0061`} {
		switch n := r.IntN(9); {
		case n < 2 && depth > 0:
			fields = append(fields, `"`+name+`":{`+fieldsLike(r, depth-1)+`}`)
		case n < 4:
			fields = append(fields, `"`+name+`":`+[]string{"1", "12", `"1"`, `"12"`, "[1]", "[1,2]", "{}", "[{}]", "null"}[r.IntN(9)])
		}
	}
	return strings.Join(fields, ",")
}

// Fields in the same order are found where the last one was, not from the start.
func TestFieldsAreLookedForAfterTheLast(t *testing.T) {
	k := known{fields: []knownField{{key: []byte("a")}, {key: []byte("b")}, {key: []byte("c")}}}
	for _, c := range []struct {
		key  string
		next int
	}{{"a", 1}, {"c", 3}, {"b", 2}, {"none", 2}} {
		if f := k.find([]byte(c.key)); (f == nil) != (c.key == "none") || k.next != c.next {
			t.Errorf("%s: found %t, and looked for next at %d", c.key, f != nil, k.next)
		}
	}
}

// Parts that are written the same are the same in memory, also far inside.
func TestWhatIsTheSameIsShared(t *testing.T) {
	const one = `{"metadata":{"labels":{"l":"1"},"name":"n"},"spec":{"deep":{"er":{"k":"v"},"list":[{"i":1}]},"x":1},"status":{"s":1}}`
	const two = `{"metadata":{"labels":{"l":"1"},"name":"m"},"spec":{"deep":{"er":{"k":"w"},"list":[{"i":1}]},"x":1},"status":{"s":1}}`
	first, _, err := ParseObject([]byte(one))
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := ParseLike([]byte(two), Text{[]byte(one), first})
	if err != nil {
		t.Fatal(err)
	}
	at := func(tree any, path ...string) uintptr {
		for _, name := range path {
			tree = tree.(map[string]any)[name]
		}
		return reflect.ValueOf(tree).Pointer()
	}
	for path, same := range map[string]bool{
		"metadata": false, "metadata labels": true, "spec": false, "spec deep": false, "spec deep er": false, "spec deep list": true, "status": true,
	} {
		p := strings.Fields(path)
		if got := at(first, p...) == at(second, p...); got != same {
			t.Errorf("%s: shared %t", path, got)
		}
	}
	// Below maxLike nothing is compared any more.
	deep := strings.Repeat(`{"a":`, maxLike+1)
	ends := strings.Repeat("}", maxLike+1)
	a, _, _ := ParseObject([]byte(deep + `{"x":1},"y":{}` + ends))
	b, _, err := ParseLike([]byte(deep+`{"x":1},"y":{}`+ends[1:]+`,"z":1}`), Text{[]byte(deep + `{"x":1},"y":{}` + ends), a})
	path := strings.Fields(strings.Repeat("a ", maxLike))
	if err != nil || at(a, path[0]) != at(b, path[0]) {
		t.Errorf("what is written the same at the top is not shared: %v", err)
	}
	c, _, err := ParseLike([]byte(deep+`{"x":2},"y":{}`+ends), Text{[]byte(deep + `{"x":1},"y":{}` + ends), a})
	if err != nil || at(a, append(path, "y")...) == at(c, append(path, "y")...) {
		t.Errorf("what is deeper than %d is compared: %v", maxLike, err)
	}
	if _, _, err := ParseLike([]byte(`{"a":`), Text{[]byte(one), first}); err == nil {
		t.Error("what is no JSON is parsed")
	}
	if _, _, err := ParseLike([]byte(`[]`), Text{[]byte(one), first}); err == nil {
		t.Error("what is no object is parsed")
	}
}
