package sdk

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestATypedConversionThatFailsSaysWhy(t *testing.T) {
	type in struct {
		Metadata json.RawMessage `json:"metadata"`
		Spec     struct {
			N int `json:"n"`
		} `json:"spec"`
	}
	type labelled struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	const plain = `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"n"},"spec":{"n":1}}`
	refuse := errors.New("not this one")
	for name, c := range map[string]struct {
		fn   Func
		text string
		want string
	}{
		"the object does not fit":   {Typed(func(*in, *labelled) error { return nil }), strings.Replace(plain, `1}`, `"x"}`, 1), "cannot unmarshal string"},
		"the function refuses":      {Typed(func(*in, *labelled) error { return refuse }), plain, refuse.Error()},
		"the result has no JSON":    {Typed(func(_ *in, to *struct{ C chan int }) error { return nil }), plain, "unsupported type"},
		"the result is no object":   {Typed(func(_ *in, to *[]int) error { return nil }), plain, "not a JSON object"},
		"the metadata is no object": {Typed(func(*in, *labelled) error { return nil }), strings.Replace(plain, `{"name":"n"}`, `[]`, 1), "is not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.fn(o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if string(o.JSON()) != c.text {
				t.Errorf("the object is now %s", o.JSON())
			}
		})
	}
}

func TestATypedConversionKeepsWhatTheObjectIs(t *testing.T) {
	fn := Typed(func(_ *struct{}, to *map[string]any) error {
		*to = map[string]any{"apiVersion": "x/v7", "kind": "Other", "metadata": map[string]any{"name": "other", "annotations": map[string]string{"a": "b"}}, "z": 1}
		return nil
	})
	for in, want := range map[string]string{
		`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"n","labels":{"l":"m"}}}`: `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"a":"b"},"name":"n","labels":{"l":"m"}},"z":1}`,
		`{"apiVersion":"g/v1","metadata":{}}`:                                         `{"apiVersion":"g/v1","metadata":{"annotations":{"a":"b"}},"z":1}`,
		`{"kind":"K","metadata":{}}`:                                                  `{"kind":"K","metadata":{"annotations":{"a":"b"}},"z":1}`,
	} {
		o, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if err := fn(o); err != nil {
			t.Fatal(err)
		}
		if got := string(o.JSON()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestFieldsAreDecodedAndEncoded(t *testing.T) {
	o, err := Parse([]byte(`{"a":{"x":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	v := struct{ X int }{7}
	if err := o.At("none").Decode(&v); err != nil || v.X != 7 {
		t.Errorf("a field that is not there: %v, %v", v, err)
	}
	if err := o.At("a", "x").Decode(&v); err == nil {
		t.Error("a number is decoded into a struct")
	}
	if err := o.At("a").Decode(&v); err != nil || v.X != 3 {
		t.Errorf("got %v, %v", v, err)
	}
	if err := o.At("a").Encode(make(chan int)); err == nil {
		t.Error("a channel is encoded")
	}
	if got := string(o.JSON()); got != `{"a":{"x":3}}` {
		t.Errorf("the object is now %s", got)
	}
}

func init() {
	type before struct{ Host string }
	type after struct {
		Server string `json:"server"`
	}
	ConvertTyped("v1typed", "v2typed", func(in *before, out *after) error {
		out.Server = in.Host
		return nil
	})
}

func TestATypedConversionIsRegistered(t *testing.T) {
	out, err := Apply([]byte(`{"apiVersion":"g/v1typed","kind":"Unnamed","metadata":{"name":"n"},"host":"h"}`), "g/v2typed")
	if err != nil || string(out) != `{"apiVersion":"g/v2typed","kind":"Unnamed","metadata":{"name":"n"},"server":"h"}` {
		t.Errorf("%v: %s", err, out)
	}
}
