package sdk

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// model is an object as encoding/json sees it, edited in the plainest way.
type model struct{ root any }

func decode(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// at returns what is at a path.
func (m *model) at(path []string) (v any, ok bool) {
	v = m.root
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			v, ok = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if ok = err == nil && i >= 0 && i < len(x); ok {
				v = x[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return v, true
}

// set returns v with the value at a path replaced; objects on the way are made.
func set(v any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	if v == nil {
		v = map[string]any{}
	}
	switch x := v.(type) {
	case map[string]any:
		child, err := set(x[path[0]], path[1:], value)
		if err != nil {
			return nil, err
		}
		x[path[0]] = child
		return x, nil
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(x) {
			return nil, fmt.Errorf("no element %s", path[0])
		}
		child, err := set(x[i], path[1:], value)
		if err != nil {
			return nil, err
		}
		x[i] = child
		return x, nil
	}
	return nil, fmt.Errorf("%v is not an object", v)
}

// remove returns v without what is at a path, which is there.
func remove(v any, path []string) any {
	switch x := v.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(x, path[0])
		} else {
			x[path[0]] = remove(x[path[0]], path[1:])
		}
	case []any:
		i, _ := strconv.Atoi(path[0])
		if len(path) == 1 {
			return append(x[:i:i], x[i+1:]...)
		}
		x[i] = remove(x[i], path[1:])
	}
	return v
}

func copied(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

func (m *model) set(t *testing.T, path []string, value any) error {
	if len(path) == 0 {
		return fmt.Errorf("the object itself")
	}
	next, err := set(copied(t, m.root), path, value)
	if err == nil {
		m.root = next
	}
	return err
}

func (m *model) move(t *testing.T, from, to []string) error {
	v, ok := m.at(from)
	if !ok || len(from) == 0 {
		return nil
	}
	v = copied(t, v)
	before := copied(t, m.root)
	m.root = remove(m.root, from)
	err := m.set(t, to, v)
	if err != nil {
		m.root = before
	}
	return err
}

// keys are few, so that paths meet; some need escapes.
var keys = []string{"a", "b", "c\"", "é", "", "0", "1", "2"}

func randomPath(r *rand.Rand, least int) []string {
	path := make([]string, least+r.IntN(4))
	for i := range path {
		path[i] = keys[r.IntN(len(keys))]
	}
	return path
}

func randomValue(r *rand.Rand, depth int) any {
	n := r.IntN(10)
	if depth <= 0 {
		n = r.IntN(5)
	}
	switch n {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return json.Number(strconv.Itoa(r.IntN(2000) - 1000))
	case 3:
		return json.Number("1.5e3")
	case 4:
		return strings.Repeat("x\\\"}]é", r.IntN(12))
	case 5, 6:
		a := make([]any, r.IntN(4))
		for i := range a {
			a[i] = randomValue(r, depth-1)
		}
		return a
	}
	m := map[string]any{}
	for range r.IntN(5) {
		m[keys[r.IntN(len(keys))]] = randomValue(r, depth-1)
	}
	return m
}

func randomText(t *testing.T, r *rand.Rand, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if r.IntN(2) == 0 && err == nil {
		text, err = json.MarshalIndent(v, "", "\t")
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Whatever is done to an object, it is what encoding/json and plain maps make
// of the same.
func TestEditsAreThoseOfEncodingJSON(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		root := map[string]any{}
		for _, k := range keys {
			root[k] = randomValue(r, 4)
		}
		text := randomText(t, r, root)
		o, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		m := &model{decode(t, text)}
		for range 30 {
			before, _ := json.Marshal(m.root)
			what := doOne(t, r, o, m)
			if got := decode(t, o.JSON()); !reflect.DeepEqual(got, m.root) {
				have, _ := json.Marshal(got)
				want, _ := json.Marshal(m.root)
				t.Fatalf("seed %d: %s\nof   %s\ngot  %s\nwant %s", seed, what, before, have, want)
			}
			lookEverywhere(t, r, o, m)
		}
	}
}

// doOne does one random thing to both.
func doOne(t *testing.T, r *rand.Rand, o *Object, m *model) string {
	t.Helper()
	path := randomPath(r, r.IntN(2))
	what, got, want := "", error(nil), error(nil)
	switch r.IntN(7) {
	case 0:
		what = "delete"
		o.At(path...).Delete()
		if _, ok := m.at(path); ok && len(path) > 0 {
			m.root = remove(m.root, path)
		}
	case 1, 2:
		to := randomPath(r, r.IntN(2))
		what = fmt.Sprintf("move to %q", to)
		got, want = o.At(path...).MoveTo(to...), m.move(t, path, to)
	case 3:
		what = "set string"
		s := fmt.Sprint(randomValue(r, 0))
		got, want = o.At(path...).SetString(s), m.set(t, path, s)
	case 4:
		what = "set bool"
		got, want = o.At(path...).SetBool(true), m.set(t, path, true)
	case 5:
		what = "each"
		each(t, o, m, path)
	default:
		v := randomValue(r, 3)
		raw := randomText(t, r, v)
		what = fmt.Sprintf("set %s", raw)
		got, want = o.At(path...).SetRaw(raw), m.set(t, path, decode(t, raw))
	}
	if (got == nil) != (want == nil) {
		t.Fatalf("%s at %q of %s: %v, want %v", what, path, o.JSON(), got, want)
	}
	return fmt.Sprintf("%s at %q", what, path)
}

// each numbers the objects of an array.
func each(t *testing.T, o *Object, m *model, path []string) {
	t.Helper()
	err := o.At(path...).Each(func(i int, element *Object) error { return element.At("a").SetInt(int64(i)) })
	if err != nil {
		t.Fatal(err)
	}
	v, _ := m.at(path)
	elements, _ := v.([]any)
	for i, e := range elements {
		if e, ok := e.(map[string]any); ok {
			e["a"] = json.Number(strconv.Itoa(i))
		}
	}
}

// lookEverywhere compares what is read at random places.
func lookEverywhere(t *testing.T, r *rand.Rand, o *Object, m *model) {
	t.Helper()
	for range 5 {
		path := randomPath(r, 0)
		f := o.At(path...)
		want, ok := m.at(path)
		if f.Exists() != ok {
			t.Fatalf("%q of %s exists: %t", path, o.JSON(), f.Exists())
		}
		if !ok {
			if f.Raw() != nil || f.Len() != 0 {
				t.Fatalf("%q of %s is %s", path, o.JSON(), f.Raw())
			}
			continue
		}
		if got := decode(t, f.Raw()); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q of %s is %s", path, o.JSON(), f.Raw())
		}
		s, isString := want.(string)
		if got, ok := f.String(); ok != isString || got != s {
			t.Fatalf("%q of %s is the string %q, %t", path, o.JSON(), got, ok)
		}
		b, isBool := want.(bool)
		if got, ok := f.Bool(); ok != isBool || got != b {
			t.Fatalf("%q of %s is the bool %t, %t", path, o.JSON(), got, ok)
		}
		n, isNumber := want.(json.Number)
		x, _ := n.Float64()
		if got, ok := f.Float(); ok != isNumber || got != x {
			t.Fatalf("%q of %s is the number %v, %t", path, o.JSON(), got, ok)
		}
		i, err := n.Int64()
		if got, ok := f.Int(); ok != (isNumber && err == nil) || ok && got != i {
			t.Fatalf("%q of %s is the integer %v, %t", path, o.JSON(), got, ok)
		}
		length := 0
		switch x := want.(type) {
		case []any:
			length = len(x)
		case map[string]any:
			length = len(x)
		}
		if f.Len() != length {
			t.Fatalf("%q of %s has %d", path, o.JSON(), f.Len())
		}
	}
}
