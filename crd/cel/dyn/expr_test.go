package dyn

import (
	"reflect"
	"strings"
	"testing"
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
	for _, text := range []string{"self.", "nothing", "self.none", "b'bytes'", "{1: 2}", "self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, true))))"} {
		many := make([]any, 100)
		if _, err := New(text).Eval(Variables{Self: map[string]any{"list": many}}); err == nil {
			t.Errorf("%s can be evaluated", text)
		}
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

func TestPrinting(t *testing.T) {
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
	} {
		if got, err := New(text).Eval(Variables{}); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if Age(time.Time{}) != Unknown || Age(time.Now().Add(-time.Minute)) != "60s" {
		t.Error("Age")
	}
}
