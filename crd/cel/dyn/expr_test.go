package dyn

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestExpressions(t *testing.T) {
	self := map[string]any{"n": int64(2), "f": 1.5, "s": "x", "list": []any{"a", "b"}, "m": map[string]any{"k": "v"}, "q": "100m"}
	for text, want := range map[string]any{
		"self.n + 1": int64(3), "self.f": 1.5, "self.s + 'y'": "xy", "self.list.join(',')": "a,b", "self.m": map[string]any{"k": "v"},
		"self.?none.orValue('d')": "d", "optional.none()": nil, "optional.of(1)": int64(1), "null": nil, "[1, 2].sum()": int64(3),
		"key": "k", "up[0].a": true, "oldSelf == 7": true, "quantity(self.q).isLessThan(quantity('1'))": true, "self.list": []any{"a", "b"},
	} {
		got, err := New(text).Eval(Variables{Self: self, Old: int64(7), Key: "k", Up: []any{map[string]any{"a": true}}})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v", text, got, err)
		}
	}
}

func TestExpressionsThatFail(t *testing.T) {
	for _, text := range []string{"self.", "nothing", "self.none", "b'bytes'", "{1: 2}"} {
		if _, err := New(text).Eval(Variables{Self: map[string]any{}}); err == nil {
			t.Errorf("%s can be evaluated", text)
		}
	}
	const dear = "self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, true))))"
	many := Variables{Self: map[string]any{"list": make([]any, 100)}}
	long := Variables{Self: map[string]any{"text": strings.Repeat("a", 1<<20), "part": strings.Repeat("a", 1<<10) + "b"}}
	const search = "[1, 2, 3].all(a, !self.text.contains(self.part))"
	if _, err := Bounded(search).Eval(long); err == nil || !strings.Contains(err.Error(), "cost limit exceeded") {
		t.Errorf("it costs no more than it may: %v", err)
	}
	if ok, err := New(search).True(long); err != nil || !ok {
		t.Errorf("what our own files say is not counted: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	many.Within = ctx
	if _, err := New(dear).Eval(many); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("it is not ended: %v", err)
	}
	if _, err := New("1").True(Variables{}); err == nil || !strings.Contains(err.Error(), "bool") {
		t.Errorf("1 is true: %v", err)
	}
	if ok, err := New("false").True(Variables{}); ok || err != nil {
		t.Errorf("false: %v, %v", ok, err)
	}
	if New("self.").Check() == nil || New("self").Check() != nil {
		t.Error("Check")
	}
}

// Users' expressions read the quantities that there are, and none that takes hours: whoever
// writes an object writes its texts.
func TestQuantitiesAreBounded(t *testing.T) {
	self := map[string]any{"endless": "1e-2000000000", "huge": "1e2000000000", "right": "1Ki"}
	for text, want := range map[string]any{
		"quantity(self.right).compareTo(quantity('1024')) == 0": true, "isQuantity(self.right)": true, "isQuantity('x')": false,
		"isQuantity(self.endless)": false, "quantityText(self.right)": "1Ki",
		"quantity(self.endless) == quantity('0')": nil, "quantity(self.huge).isInteger()": nil, "quantityText(self.endless)": nil, "quantity('x')": nil,
	} {
		got, err := Bounded(text).Eval(Variables{Self: self})
		if want == nil && (err == nil || !strings.Contains(err.Error(), "exponent beyond") && !strings.Contains(err.Error(), "must match")) {
			t.Errorf("%s is %v, %v", text, got, err)
		} else if want != nil && (err != nil || got != want) {
			t.Errorf("%s is %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestPrinting(t *testing.T) { synctest.Test(t, printed) } // in which no time passes

func printed(t *testing.T) {
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }
	for text, want := range map[string]string{
		"age('" + ago(2*time.Hour+10*time.Second) + "')": "120m",
		"age('')": Unknown,
		"age(1)":  Unknown,
		"elapsed('2020-01-01T00:00:00Z', '2020-01-01T00:01:00Z')": "60s",
		"elapsed('2020-01-01T00:00:00Z', '2020-01-01T00:00:07Z')": "7s",
		"elapsed('', '')": "",
		"elapsed('" + ago(125*time.Second) + "', '')": "2m5s",
		"labelSelector({'matchLabels': {'a': 'b'}})":  "a=b",
		"labelSelector(null)":                         "<none>",
		"labelSelector({})":                           "<none>",
		"labels({'b': 1, 'a': 'x'})":                  "a=x,b=1",
		"labels({})":                                  "<none>",
		"labels(null)":                                "<none>",
		"durationText(90)":                            "90s",
		"durationText(7200)":                          "120m",
		"durationText('90')":                          "",
		"quantityText('1024Mi')":                      "1Gi",
		"quantityText(3)":                             "3",
		"quantityText(null)":                          "0",
		"someOf(['a', 'b', 3], 2)":                    "a,b + 1 more...",
		"someOf(['a', 'b', 'c'], 3)":                  "a,b,c",
		"someOf(['a', 'b', 'c'], 0)":                  " + 3 more...",
		"someOf(['a', 'b', 'c'], -1)":                 "a,b,c",
		"someOf([], 0)":                               "",
		"someOf(null, 2)":                             "",
		"labels(merge({'a': 'b', 'c': 'd'}, {'c': 'e', 'f': 'g'}))": "a=b,c=e,f=g",
		"labels(merge(null, {'a': 'b'}))":                           "a=b",
	} {
		if got, err := New(text).Eval(Variables{}); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if Age(time.Time{}) != Unknown || Age(time.Now().Add(-time.Minute)) != "60s" {
		t.Error("Age")
	}
}

// What is no part of an object is told wherever it is, and so is what is too deep.
func TestValuesThatObjectsDoNotHave(t *testing.T) {
	const odd = "a bytes is no part of an object"
	for text, want := range map[string]string{
		"b'x'": odd, "[b'x']": odd, "{'a': b'x'}": odd, "optional.of(b'x')": odd, "{1: 2}": "a field is called by a int",
		"labels({'a': b'x'})": odd, "quantityText(b'x')": odd, "merge({'a': b'x'}, {})": odd, "merge({}, {'a': b'x'})": odd, "someOf([b'x'], 1)": odd, "labelSelector({'a': b'x'})": odd,
		"selects({'a': b'x'}, {})": odd, "selects({}, {'a': b'x'})": odd,
		"quantityText('x')": "quantities must match", "labelSelector({'matchLabels': 7})": "cannot restore", "self.deep": "a value is more than 32 deep",
	} {
		if got, err := New(text).Eval(Variables{Self: map[string]any{"deep": deep(32)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	if got, err := New("self").Eval(Variables{Self: deep(31)}); err != nil || !reflect.DeepEqual(got, deep(31)) {
		t.Errorf("31 deep: %v, %v", got, err)
	}
}

// deep is a list in so many others.
func deep(n int) any {
	v := any("x")
	for range n {
		v = []any{v}
	}
	return v
}

// A value that is none is told from a null, and an expression that fails from both.
func TestValuesThatAreNone(t *testing.T) {
	for text, want := range map[string]struct {
		value any
		none  bool
		fails bool
	}{
		"optional.none()": {none: true}, "null": {}, "optional.of(null)": {}, "optional.of(1)": {value: int64(1)}, "'x'": {value: "x"}, "self.none": {fails: true}, "b'x'": {fails: true}, "self.": {fails: true},
	} {
		value, none, err := New(text).Maybe(Variables{Self: map[string]any{}})
		if value != want.value || none != want.none || (err != nil) != want.fails {
			t.Errorf("%s: %v, %t, %v", text, value, none, err)
		}
	}
	for _, text := range []string{"self.", "self.none"} {
		if ok, err := New(text).True(Variables{Self: map[string]any{}}); ok || err == nil || !strings.Contains(err.Error(), "expression") {
			t.Errorf("%s: %t, %v", text, ok, err)
		}
	}
}
