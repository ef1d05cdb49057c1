package manifest_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/cli/manifest"
)

const tab = `---
# of the team
apiVersion: example.com/v1beta1   # soon v1
kind: CronTab
metadata: {name: "a", labels: {x: 'y'}}

spec:
  # where it runs
  hostPort: "localhost:1234"  # both
  replicas: 03
  jobs:
  # the first
  - name: one   # uno
    at:  "* * *"
  -   name: two
      old: gone
      script: |
        #!/bin/sh
        # all of it
  # at the end
  image:   x
`

// What says the same stays as it was written.
func TestChangeKeepsLines(t *testing.T) {
	for name, c := range map[string]struct{ text, object, want string }{
		"nothing": {"a:   1 # x\n", `{"a":1}`, "a:   1 # x\n"},
		"a field in the place of another": {tab,
			`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a","labels":{"x":"y"}},"spec":{"host":"localhost","port":"1234","replicas":3,"jobs":[{"name":"one","at":"* * *"},{"name":"TWO","script":"#!/bin/sh\n# all of it\n"}],"image":"x"}}`,
			strings.NewReplacer("apiVersion: example.com/v1beta1   #", "apiVersion: example.com/v1 #", `hostPort: "localhost:1234"  # both`, "host: localhost\n  port: \"1234\"",
				"name: two\n      old: gone\n", "name: TWO\n").Replace(tab)},
		"the first of an item goes": {"l:\n- a: 1\n  b: 2\n- c: 3\n", `{"l":[{"b":2},{"c":3}]}`, "l:\n- b: 2\n- c: 3\n"},
		"the last goes":             {"a: 1\n# of b\nb:\n  c: 2\n", `{"a":1}`, "a: 1\n# of b\n"},
		"one is added":              {"a: 1 # x\n", `{"a":1,"b":{"c":2}}`, "a: 1 # x\nb:\n  c: 2\n"},
		"without a last line end":   {"a: 1", `{"a":2}`, "a: 2"},
		"an anchor":                 {"a: &x {b: 1}\nc: *x\n", `{"a":{"b":1},"c":{"b":2}}`, "a: &x {b: 1}\nc:\n  b: 2\n"},
		"all is another":            {"a: 1\n", `{"b":1}`, "b: 1\n"},
		"lines that end in \\r":     {"\r\ra: 1", `{"b":1}`, "b: 1\n"},
		"lines that end in \\r\\n":  {"a: 1 # x\r\nb: 2\r\n", `{"a":1,"b":3}`, "a: 1 # x\r\nb: 3\r\n"},
		"a mark of the byte order":  {"\ufeffa: 1 # x\n", `{"a":2}`, "a: 2\n"},
		"the last ones go":          {"a: 1 # x\nb: 2\n# of c\nc:\n  d: 3\n# end\n", `{"a":1}`, "a: 1 # x\n# of c\n# end\n"},
		"the last ones of an item":  {"l:\n- a: 1\n  b: 2\n  c: 3\n- d: 4\n", `{"l":[{"a":1},{"d":4}]}`, "l:\n- a: 1\n- d: 4\n"},
		"all but one go":            {"a: 1\nb: 2 # x\nc: 3\nd: 4\n", `{"b":2}`, "b: 2 # x\n"},
		"a text with U+0085":        {"a: 1 # x\nb: 2\n", `{"a":"x\u0085y","b":2}`, `a: "x\Ny" # x` + "\nb: 2\n"},
		"a smile in two halves":     {"a: 1 # x\n", `{"a":"\ud83d\ude00"}`, `a: "\U0001F600" # x` + "\n"},
		"a text with U+007F":        {"a: 1 # x\n", `{"a":"x\u007fy"}`, `a: "x\x7Fy" # x` + "\n"},
		"UTF-16":                    {"\xff\xfea\x00:\x00 \x00[\x00\x85\x00]\x00\x85\x00b\x00:\x00 \x001\x00", `{"b":1}`, "b: 1\n"},
		"items of another kind":     {"l:\n- 1 # x\n- a: 1 # y\n  b: 2\n- 3 # z\n", `{"l":[{"c":2},"d",3]}`, "l:\n- c: 2 # x\n- d\n- 3 # z\n"},
		"an item of many lines":     {"s: # s\n  l:\n  - a # x\n  # of b\n  - b\n", `{"s":{"l":[{"x":1,"z":2},"b"]}}`, "s: # s\n  l:\n  - x: 1\n    z: 2 # x\n  # of b\n  - b\n"},
		"a comment in an item":      {"l:\n- a\n  # more of a\n- b # y\n", `{"l":[{"x":1},"b"]}`, "l:\n- x: 1\n- b # y\n"},
		"a text with U+FFFF":        {"a: 1 # x\n", `{"a":"x\uffffy"}`, `a: "x\uFFFFy" # x` + "\n"},
		"one before a comment goes": {"a: 1 # x\n# of b\nb: 2\nc: 3\n", `{"b":2,"c":3}`, "# of b\nb: 2\nc: 3\n"},
		"what is merged in":         {"a: &x {b: 1}\nc: # y\n  <<: *x\n  d: 2 # z\ne: 1 # w\n", `{"a":{"b":1},"c":{"b":1,"d":3},"e":1}`, "a: &x {b: 1}\nc:\n  b: 1\n  d: 3\ne: 1 # w\n"},
		"a document of its own":     {"---\na: 1\n", `{"b":1}`, "---\nb: 1\n"},
		"another number of items":   {"l:\n- 1 # x\nm: 1 # y\n", `{"l":[1,2],"m":1}`, "l:\n- 1\n- 2\nm: 1 # y\n"},
	} {
		got, err := manifest.Change([]byte(c.text), []byte(c.object))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
}

// What cannot be read is not changed.
func TestChangesOfWhatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ text, object string }{
		"no YAML":      {"a: b: c\n", `{"a":1}`},
		"a name twice": {"a: 1\na: 2\n", `{"a":1}`},
		"no JSON":      {"a: 1\n", "{"},
	} {
		if got, err := manifest.Change([]byte(c.text), []byte(c.object)); err == nil || got != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestSplitLosesNothing(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{{"a: 1\n---\nb: 2\n--- # c\nd: 1", 3}, {"---\na: 1\n", 1}, {"", 1}, {"a: |\n  ---\n----\n", 1}} {
		all := manifest.Split([]byte(c.text))
		var together strings.Builder
		for _, d := range all {
			together.Write(d)
		}
		if len(all) != c.want || together.String() != c.text {
			t.Errorf("%q is divided into %q", c.text, all)
		}
	}
}

// Whatever a document looks like, it has the new value.
func FuzzChange(f *testing.F) {
	f.Add(tab, `{"a":{"b":[1,2]}}`)
	f.Add("a:\n- b: 1\n  c: &x 2\n- *x\n", `{"a":[{"c":3},2]}`)
	f.Add("a: |+\n  x\n\n# c\nb: 'é'\n...\n", `{"b":"é","c":1}`)
	f.Fuzz(func(t *testing.T, text, object string) {
		if !strings.HasPrefix(object, "{") {
			return
		}
		got, err := manifest.Change([]byte(text), []byte(object))
		if err != nil {
			return
		}
		var have, want any
		if err := yaml.UnmarshalStrict(got, &have); err != nil {
			t.Fatalf("%q cannot be read: %v", got, err)
		}
		if err := json.Unmarshal([]byte(object), &want); err != nil {
			return
		}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%q became %q, want %q", text, got, object)
		}
	})
}

// What a changed document has no more of its comments is told, line by line.
func TestLostCommentsAreTold(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"# a\nx: 1 # b\n", "# a\nx: 2 # b\n", ""},
		{"# a\n# c\nx: 1 # b\n", "# a\nx: 2\n", "# c|# b"},
		{"x: 1 # a\ny: 2 # a\n", "x: 1 # a\n", "# a"},
		{"x: 1\n# end\n", "x: 2\n", "# end"},
		{"s: |\n  # no comment\n", "s: y\n", ""},
		{"x: [ # a\n", "x: 1\n", ""},
	} {
		if got := strings.Join(manifest.LostComments([]byte(c.before), []byte(c.after)), "|"); got != c.want {
			t.Errorf("%q to %q: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}
