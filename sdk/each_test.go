package sdk

import (
	"strings"
	"testing"
)

// What the function of Each does beside the element is as if it were done after it.
func TestEachMayChangeWhatIsBeside(t *testing.T) {
	first := func(text string) func(*testing.T) *Object {
		return func(t *testing.T) *Object {
			o, err := Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
	}
	for name, c := range map[string]struct {
		text   string
		path   string
		beside func(o *Object, i int) error
	}{
		"another field is made":   {`{"items":[{"v":1},{"v":2}]}`, "items", func(o *Object, i int) error { return o.At("spec", "count").SetInt(int64(i)) }},
		"one before it is made":   {`{"items":[{"v":1},{"v":2}]}`, "items", func(o *Object, i int) error { return o.At("a").SetInt(int64(i)) }},
		"many before it are made": {`{"items":[{"v":1},{"v":2}]}`, "items", func(o *Object, i int) error { return o.At(strings.Repeat("a", i+1)).SetInt(1) }},
		"the array moves within its object": {`{"spec":{"aItems":[{"w":1}],"items":[{"v":1},{"v":2}]}}`, "spec items", func(o *Object, i int) error {
			if err := o.At("spec", "a").SetInt(int64(i)); err != nil {
				return err
			}
			return o.At("spec", "aItems", "0", "w").SetInt(9)
		}},
		"another array is edited": {`{"aItems":[{"w":1}],"items":[{"v":1},{"v":2}]}`, "items", func(o *Object, i int) error {
			if err := o.At("aItems", "0", "w").SetInt(9); err != nil {
				return err
			}
			return o.At("spec", "a").SetInt(int64(i))
		}},
		"one before it goes": {`{"a":[{"w":1}],"items":[{"v":1},{"v":2}]}`, "items", func(o *Object, i int) error { o.At("a").Delete(); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			path := strings.Fields(c.path)
			once, twice := first(c.text)(t), first(c.text)(t)
			edit := func(i int, e *Object) error { return e.At("seen").SetInt(int64(i)) }
			if err := once.At(path...).Each(func(i int, e *Object) error {
				if err := edit(i, e); err != nil {
					return err
				}
				return c.beside(once, i)
			}); err != nil {
				t.Fatal(err)
			}
			if err := twice.At(path...).Each(edit); err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				if err := c.beside(twice, i); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := string(once.JSON()), string(twice.JSON()); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Where the function takes the array away, or makes it shorter, the elements that are not
// there are neither visited nor put back.
func TestEachEndsWithItsArray(t *testing.T) {
	for name, c := range map[string]struct {
		beside func(o *Object) error
		seen   int
		want   string
	}{
		"it goes":           {func(o *Object) error { o.At("l").Delete(); return nil }, 1, `{"m":1}`},
		"it moves":          {func(o *Object) error { return o.At("l").MoveTo("k") }, 1, `{"k":[{"v":1},{"v":2},{"v":3}],"m":1}`},
		"it is no array":    {func(o *Object) error { return o.At("l").SetInt(1) }, 1, `{"l":1,"m":1}`},
		"it is empty":       {func(o *Object) error { return o.At("l").SetRaw([]byte("[]")) }, 1, `{"l":[],"m":1}`},
		"an element goes":   {func(o *Object) error { o.At("l", "2").Delete(); return nil }, 2, `{"l":[{"v":1,"w":0},{"v":2,"w":1}],"m":1}`},
		"it goes itself":    {func(o *Object) error { o.At("l", "0").Delete(); return nil }, 3, `{"l":[{"v":2,"w":0},{"v":3,"w":1}],"m":1}`},
		"it is replaced":    {func(o *Object) error { return o.At("l", "0").SetRaw([]byte(`{}`)) }, 3, `{"l":[{},{"v":2,"w":1},{"v":3,"w":2}],"m":1}`},
		"it is another one": {func(o *Object) error { return o.At("l").SetRaw([]byte(`[{"n":1}]`)) }, 1, `{"l":[{"n":1}],"m":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Parse([]byte(`{"l":[{"v":1},{"v":2},{"v":3}],"m":1}`))
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			if err := o.At("l").Each(func(i int, e *Object) error {
				seen++
				if err := e.At("w").SetInt(int64(i)); err != nil {
					return err
				}
				if seen > 1 {
					return nil
				}
				return c.beside(o)
			}); err != nil {
				t.Fatal(err)
			}
			if got := string(o.JSON()); got != c.want || seen != c.seen {
				t.Errorf("%d elements were seen: %s, want %s", seen, got, c.want)
			}
		})
	}
}
