package main

import (
	"testing"

	"github.com/wasmgate/wasmgate/sdk"
)

// What the module loses, and what it keeps when it is configured to.
func TestWhatIsLost(t *testing.T) {
	defer func() { keep = false }()
	for _, c := range []struct {
		keep              bool
		v1, v2, back, bad string
	}{
		{false, `{"networks":["a"]}`, `{"network":"a"}`, `{"networks":["a"]}`, ""},
		{false, `{"networks":["a","b"]}`, `{"network":"a"}`, `{"networks":["a"]}`, ""},
		{false, `{"networks":[]}`, `{}`, `{}`, ""},
		{false, `{"x":1}`, `{"x":1}`, `{"x":1}`, ""},
		{true, `{"networks":["a"]}`, `{"network":"a"}`, `{"networks":["a"]}`, ""},
		{true, `{"networks":["a","b"]}`, `{"metadata":{"annotations":{"example.com/networks":"[\"a\",\"b\"]"}},"network":"a"}`, `{"metadata":{"annotations":{}},"networks":["a","b"]}`, ""},
		{true, `{"networks":[]}`, `{"metadata":{"annotations":{"example.com/networks":"[]"}}}`, `{"metadata":{"annotations":{}},"networks":[]}`, ""},
		{false, `{"networks":1}`, "", "", "json: cannot unmarshal number into Go value of type []string"},
	} {
		keep = c.keep
		o, err := sdk.Parse([]byte(c.v1))
		if err != nil {
			t.Fatal(err)
		}
		if err := toV2(o); err != nil || c.bad != "" {
			if err == nil || err.Error() != c.bad {
				t.Errorf("%s: %v, want %s", c.v1, err, c.bad)
			}
			continue
		}
		v2 := string(o.JSON())
		if err := toV1(o); err != nil {
			t.Error(err)
		}
		if v2 != c.v2 || string(o.JSON()) != c.back {
			t.Errorf("%s becomes %s and then %s, want %s and %s", c.v1, v2, o.JSON(), c.v2, c.back)
		}
	}
}
