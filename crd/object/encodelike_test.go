package object

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What shares parts with another object is encoded as it is by itself, whatever those are.
func TestEncodedLikeAnotherItIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	texts := []string{
		`{}`, `{"a":{"b":{"c":{"d":{"e":{"f":1}}}}}}`, `{"a":{"b":{"c":{"d":{"e":{"f":2}}}}}}`, `{"a<":{"x":1}}`, `{"a\\u003c":{"x":1}}`, `{"a<":{"x":1},"a\\u003c":{"x":1}}`,
		`{"a":"<>&\u2028"}`, `{"a":"<>","b":["<"]}`, `{"a":[{"b":1}],"b":{"a":[1]}}`, `{"a":null,"b":true,"c":"","d":1.50,"e":[],"f":{}}`,
		`{"metadata":{"managedFields":[` + entry + `],"name":"n"},"spec":{"x":1}}`, `{"metadata":{"name":"m"},"spec":{"x":1}}`,
	}
	for range 2000 {
		texts = append(texts, "{"+fieldsLike(r, 3)+"}")
	}
	for range 60000 {
		data, other := texts[r.IntN(len(texts))], texts[r.IntN(len(texts))]
		if r.IntN(2) == 0 {
			other = strings.Replace(data, "1", "2", 1)
		}
		like, _, err := ParseObject([]byte(other))
		if err != nil {
			t.Fatal(err)
		}
		canonical, err := Encode(like)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 {
			Detach(like)
		}
		tree, _, err := ParseLike([]byte(data), Text{canonical, like})
		if err != nil {
			t.Fatal(err)
		}
		want, err := Encode(tree)
		if err != nil {
			t.Fatal(err)
		}
		got, err := EncodeLike(tree, Text{canonical, like})
		if err != nil || string(got) != string(want) || cap(got) == len(got) {
			t.Fatalf("%s like %s:\n%s, %v, want\n%s (%d, %d)", data, canonical, got, err, want, len(got), cap(got))
		}
	}
	for _, other := range []string{``, `[`, `{"a":1,"a":2}`, `{"a"`} { // what is no such text
		if got, err := EncodeLike(map[string]any{"a": int64(3)}, Text{[]byte(other), map[string]any{"a": int64(1)}}); err != nil || string(got) != `{"a":3}` {
			t.Errorf("like %s: %s, %v", other, got, err)
		}
	}
}
