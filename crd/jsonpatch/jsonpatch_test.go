package jsonpatch

import (
	"errors"
	"strings"
	"testing"
)

func decoded(t *testing.T, text string) Patch {
	t.Helper()
	p, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOperationsAreCounted(t *testing.T) {
	many := strings.Repeat(`{"op":"remove","path":"/a"},`, MaxOperations-1) + `{"op":"remove","path":"/a"}`
	if p := decoded(t, "["+many+"]"); len(p) != MaxOperations {
		t.Errorf("%d operations", len(p))
	}
	_, err := Decode([]byte("[{}," + many + "]"))
	var tooMany *TooMany
	if !errors.As(err, &tooMany) || tooMany.Operations != MaxOperations+1 || err.Error() != "it has 10001 operations; 10000 are allowed" {
		t.Errorf("one more: %v", err)
	}
	if _, err := Decode([]byte("{}")); err == nil || errors.As(err, &tooMany) {
		t.Errorf("no list: %v", err)
	}
}

// Each copy of the list into itself doubles it.
func TestCopiesAreBounded_UPD05(t *testing.T) {
	text, double := `{"l":["`+strings.Repeat("x", 1000)+`"]}`, `{"op":"copy","from":"/l","path":"/l/0"}`
	if out, err := decoded(t, "["+double+"]").Apply([]byte(text)); err != nil || len(out) < 2000 {
		t.Errorf("one: %d bytes, %v", len(out), err)
	}
	out, err := decoded(t, "["+strings.Repeat(double+",", 13)+double+"]").Apply([]byte(text))
	if err == nil || !strings.Contains(err.Error(), "3145728") {
		t.Errorf("fourteen: %d bytes, %v", len(out), err)
	}
}

func TestAPanicOfTheLibraryIsAnError_UPD05(t *testing.T) {
	_, err := decoded(t, `[{"op":"test","path":"/l","value":[null]}]`).Apply([]byte(`{"l":[null]}`))
	if err == nil || !strings.HasPrefix(err.Error(), "a defect of the patch library") {
		t.Errorf("got %v", err)
	}
}

// nesting is a patch that nests one list in another by a few bytes for each level: no
// text is deep, and what they make together is.
func nesting(levels int) string {
	const each = 200
	tower := strings.Repeat("[", each) + strings.Repeat("]", each)
	within := strings.Repeat("/0", each)
	operations := []string{`{"op":"add","path":"/y","value":[]}`}
	for from, to := "/y", "/z"; levels > 0; from, to, levels = to, from, levels-each {
		operations = append(operations, `{"op":"add","path":"`+to+`","value":`+tower+`}`, `{"op":"move","from":"`+from+`","path":"`+to+within+`"}`)
	}
	return "[" + strings.Join(operations, ",") + "]"
}

// The library would fill its stack with what is nested so deeply, which ends the process.
func TestNestingIsBounded_UPD05(t *testing.T) {
	for _, levels := range []int{400, 1600} {
		if out, err := decoded(t, nesting(levels)).Apply([]byte(`{}`)); err != nil || strings.Count(string(out), "[") < levels {
			t.Errorf("%d levels: %d bytes, %v", levels, len(out), err)
		}
	}
	for _, levels := range []int{50_000, 700_000} {
		_, err := decoded(t, nesting(levels)).Apply([]byte(`{}`))
		if err == nil || len(err.Error()) > 200 {
			t.Errorf("%d levels: %.200v", levels, err)
		}
	}
	deep := `{"y":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`
	value := strings.Repeat("[", 9500) + strings.Repeat("]", 9500)
	_, err := decoded(t, `[{"op":"add","path":"/y`+strings.Repeat("/0", 999)+`/-","value":`+value+`},{"op":"copy","from":"/y","path":"/z"}]`).Apply([]byte(deep))
	if err == nil || !strings.HasSuffix(err.Error(), "exceeded max depth") || len(err.Error()) > 200 {
		t.Errorf("in what is deep: %.200v", err)
	}
}

// What is applied in parts has one outcome, and one bound of what is copied.
func TestPartsOfAPatch_UPD05(t *testing.T) {
	const levels = 30
	tower := strings.Repeat("[", levels) + strings.Repeat("]", levels)
	within := strings.Repeat(`,{"op":"copy","from":"/k","path":"/t`+strings.Repeat("/0", levels-1)+`/-"}`, 3) // more than one part has
	text := func(rest string) []byte { return []byte(`{"k":1,` + rest + `"t":` + tower + `}`) }
	begin, last := `[{"op":"add","path":"/a","value":1}`+within+within, `,{"op":"test","path":"/a","value":1},{"op":"remove","path":"/t"}]`
	if out, err := decoded(t, begin+within+last).Apply(text("")); err != nil || string(out) != `{"a":1,"k":1}` {
		t.Errorf("%.100s, %v", out, err)
	}
	// The library compares texts as they are written: as a Go client writes them, and others.
	const ours, theirs = `"a \u0026 \u003cb\u003e \u2028 \\u0026"`, "\"a & <b> \u2028 \\\\u0026\""
	for _, added := range []string{ours, theirs} {
		for _, tested := range []string{ours, theirs} {
			middle := `,{"op":"test","path":"/c","value":` + tested + `},{"op":"add","path":"/b","value":` + added + `}` + within + within + `,{"op":"test","path":"/b","value":` + tested + `},{"op":"test","path":"/c","value":` + tested + `}`
			for _, there := range []string{ours, theirs} {
				if out, err := decoded(t, begin+middle+last).Apply(text(`"c":` + there + `,`)); err != nil || string(out) != `{"a":1,"b":`+ours+`,"c":`+ours+`,"k":1}` {
					t.Errorf("%s, %s, %s: %.100s, %v", there, added, tested, out, err)
				}
			}
		}
	}
	if _, err := decoded(t, begin+`,{"op":"remove","path":"/e"}]`).Apply(text("")); err == nil || !strings.Contains(err.Error(), "Unable to remove nonexistent key: e") {
		t.Errorf("one that fails: %v", err)
	}
}

// A small text can ask for a work of minutes.
func TestWorkIsBounded_UPD05(t *testing.T) {
	zeros := `{"op":"add","path":"/x","value":[0` + strings.Repeat(",0", 300_000) + `]}`
	first := strings.Repeat(`,{"op":"add","path":"/x/0","value":0}`, 9000)
	last := strings.Repeat(`,{"op":"add","path":"/x/-","value":0}`, 9000)
	deep := `{"op":"add","path":"/x","value":` + strings.Repeat("[", 9000) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", 9000) + `}`
	for name, c := range map[string]struct {
		patch string
		much  bool
	}{
		"before a long list":     {"[" + zeros + first + "]", true},
		"after a long list":      {"[" + zeros + last + "]", false},
		"around what is large":   {strings.Replace(nesting(4000), "[]", `"`+strings.Repeat("x", 1<<20)+`"`, 1), true},
		"in what is deep":        {"[" + deep + `,{"op":"replace","path":"/x` + strings.Repeat("/0", 9000) + `","value":1}]`, true},
		"copies of what is open": {`[{"op":"add","path":"/x","value":` + strings.Repeat("[", 20) + `"` + strings.Repeat("x", 48<<10) + `"` + strings.Repeat("]", 20) + `}` + strings.Repeat(`,{"op":"replace","path":"/x`+strings.Repeat("/0", 19)+`/0","value":"`+strings.Repeat("x", 1000)+`"}`+strings.Repeat(`,{"op":"copy","from":"/x","path":"/y"}`, 63)+`,{"op":"remove","path":"/y"}`, 150) + "]", true},
		"indexes of a list":      {`[{"op":"add","path":"/x","value":["` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat(`,""`, 10_000) + `]}` + strings.Repeat(`,{"op":"remove","path":"/x/1"}`, 5000) + "]", false},
		"beside what is deep":    {`[` + strings.Replace(deep, `"/x"`, `"/y"`, 1) + `,{"op":"add","path":"/m","value":[1]},{"op":"remove","path":"/m"}]`, false},
		"copies of little":       {`[{"op":"add","path":"/y","value":"` + strings.Repeat("x", 700<<10) + `"},{"op":"add","path":"/m","value":{"l":{"a":"b"},"n":{}}}` + strings.Repeat(`,{"op":"copy","from":"/m/l/a","path":"/m/n/x"}`, 300) + "]", false},
		"many moves":             {`[{"op":"add","path":"/y","value":"` + strings.Repeat("x", 1<<20) + `"},{"op":"add","path":"/a","value":{"b":{"c":{"d":[1]}}}}` + strings.Repeat(`,{"op":"move","from":"/a/b/c/d","path":"/a/b/c/e"},{"op":"move","from":"/a/b/c/e","path":"/a/b/c/d"}`, 40) + "]", false},
		"a few":                  {"[" + zeros + first[:37*20] + "]", false},
	} {
		var much *TooMuch
		if _, err := decoded(t, c.patch).Apply([]byte(`{}`)); errors.As(err, &much) != c.much || !c.much && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A patch of operations does what one of their text does.
func TestPatchesOfOperations(t *testing.T) {
	const doc = `{"a":"<","l":[1,2]}`
	all := []Operation{{Op: "test", Path: "/a", Value: []byte(`"<"`)}, {Op: "copy", Path: "/b", From: "/a"}, {Op: "remove", Path: "/l/0"}, {Op: "add", Path: "/ü", Value: []byte(`null`)}}
	p, err := Of(all)
	if err != nil {
		t.Fatal(err)
	}
	of, err := Decode([]byte(`[{"op":"test","path":"/a","value":"<"},{"op":"copy","path":"/b","from":"/a"},{"op":"remove","path":"/l/0"},{"op":"add","path":"/ü","value":null}]`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Apply([]byte(doc))
	want, wrong := of.Apply([]byte(doc))
	if err != nil || wrong != nil || string(got) != string(want) {
		t.Errorf("%s, %v; want %s, %v", got, err, want, wrong)
	}
	if _, err := p.Apply([]byte(`{"a":">","l":[1]}`)); !TestFailed(err) {
		t.Errorf("a test that fails: %v", err)
	}
	if _, err := p.Apply([]byte(`{"a":"<"}`)); err == nil || TestFailed(err) {
		t.Errorf("no list: %v", err)
	}
	var many *TooMany
	if _, err := Of(make([]Operation, MaxOperations+1)); !errors.As(err, &many) || many.Operations != MaxOperations+1 {
		t.Errorf("too many: %v", err)
	}
}
