package draft

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// parsed is a schema of its JSON.
func parsed(t *testing.T, text string) *schema {
	t.Helper()
	s := &schema{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// What is made up for a field that has to be there is valid, and where none is known to be,
// none is made up.
func TestValuesThatAreMadeUpAreValid(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"string"}`:                                       `""`,
		`{"type":"string","minLength":0}`:                         `""`,
		`{"type":"string","minLength":1}`:                         `"x"`,
		`{"type":"string","minLength":3}`:                         `"xxx"`,
		`{"type":"string","pattern":"^a$"}`:                       "",
		`{"type":"string","format":"date"}`:                       "",
		`{"type":"string","enum":["b","a"]}`:                      `"b"`,
		`{"type":"integer"}`:                                      "0",
		`{"type":"integer","format":"int32"}`:                     "0",
		`{"type":"integer","minimum":0}`:                          "0",
		`{"type":"integer","minimum":1}`:                          "1",
		`{"type":"integer","minimum":0.5}`:                        "1",
		`{"type":"integer","minimum":-2}`:                         "0",
		`{"type":"integer","minimum":1000000,"maximum":1000000}`:  "1000000",
		`{"type":"integer","maximum":-1}`:                         "-1",
		`{"type":"integer","maximum":-1.5}`:                       "-2",
		`{"type":"integer","maximum":0}`:                          "0",
		`{"type":"integer","minimum":0,"exclusiveMinimum":true}`:  "",
		`{"type":"integer","maximum":0,"exclusiveMaximum":true}`:  "",
		`{"type":"integer","minimum":-1,"exclusiveMinimum":true}`: "0",
		`{"type":"integer","maximum":1,"exclusiveMaximum":true}`:  "0",
		`{"type":"integer","minimum":4,"multipleOf":3}`:           "",
		`{"type":"integer","minimum":6,"multipleOf":3}`:           "6",
		`{"type":"integer","minimum":0.2,"maximum":0.8}`:          "",
		`{"type":"number","minimum":0.5}`:                         "0.5",
		`{"type":"number","minimum":1000000}`:                     "1000000",
		`{"type":"boolean"}`:                                      "false",
		`{"type":"array"}`:                                        "[]",
		`{"type":"array","minItems":0}`:                           "[]",
		`{"type":"array","minItems":1}`:                           "",
		`{"type":"object"}`:                                       "{}",
		`{"properties":{"a":{"type":"string"}}}`:                  "{}",
		`{"type":"object","required":["a"]}`:                      "",
		`{"x-kubernetes-int-or-string":true}`:                     "",
		`{}`:                                                      "",
	} {
		if got := zero(parsed(t, text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// What is said of scalars whose values are not all valid in the other version: of the first
// thing that is narrower, and of none where it is wider or the same.
func TestNarrowerScalarsAreRemarkedOn(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`"enum":["a","b"]`, `"enum":["b","a"]`, ""},
		{`"enum":["a"]`, `"enum":["a","b","c"]`, "v1 does not know b, c: objects that have one are not valid there"},
		{``, `"enum":["a","b"]`, "v2 takes a, b only, and v1 takes others, too"},
		{``, `"enum":["1","2","3","4","5","6","7","8"]`, "v2 takes 1, 2, 3, 4, 5, 6, 7, 8 only, and v1 takes others, too"},
		{``, `"enum":["1","2","3","4","5","6","7","8","9"]`, "v2 takes 1, 2, 3, 4, 5, 6, 7, 8, ... only, and v1 takes others, too"},
		{`"enum":["a","b"]`, ``, ""},
		{``, `"pattern":"^a"`, "v2 has another pattern, so that some values may not be valid there: ^a"},
		{`"pattern":"^a"`, `"pattern":"^b"`, "v2 has another pattern, so that some values may not be valid there: ^b"},
		{`"pattern":"^a"`, `"pattern":"^a"`, ""},
		{`"pattern":"^a"`, ``, ""},
		{``, `"maxLength":3`, "v2 takes less of it than v1"},
		{`"maxLength":4`, `"maxLength":3`, "v2 takes less of it than v1"},
		{`"maxLength":3`, `"maxLength":3`, ""},
		{`"maxLength":2`, `"maxLength":3`, ""},
		{`"maxLength":2`, ``, ""},
		{``, `"minLength":1`, "v2 takes less of it than v1"},
		{`"minLength":1`, `"minLength":2`, "v2 takes less of it than v1"},
		{`"minLength":2`, `"minLength":2`, ""},
		{`"minLength":3`, `"minLength":2`, ""},
		{`"default":"a"`, `"default":"b"`, `the default was "a" and is "b": objects that exist keep theirs, those created at v2 without it get the new one`},
		{`"default":"a"`, `"default":"a"`, ""},
		{``, `"default":"b"`, ""},
		{`"default":"a"`, ``, ""},
	} {
		if got := remarksOn(t, "string", c.a, c.b); got != c.want {
			t.Errorf("{%s} and {%s}: %q, want %q", c.a, c.b, got, c.want)
		}
	}
	for _, c := range []struct{ a, b, want string }{
		{``, `"maximum":3`, "v2 takes less of it than v1"}, {`"maximum":4`, `"maximum":3`, "v2 takes less of it than v1"}, {`"maximum":3`, `"maximum":3`, ""}, {`"maximum":2`, `"maximum":3`, ""},
		{``, `"minimum":3`, "v2 takes less of it than v1"}, {`"minimum":2`, `"minimum":3`, "v2 takes less of it than v1"}, {`"minimum":3`, `"minimum":3`, ""}, {`"minimum":4`, `"minimum":3`, ""},
		{`"enum":[1,2]`, `"enum":[2,1]`, ""}, {`"enum":[1,2]`, `"enum":[1]`, "v2 takes 1 only, and v1 takes others, too"},
	} {
		if got := remarksOn(t, "integer", c.a, c.b); got != c.want {
			t.Errorf("integers {%s} and {%s}: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// remarksOn is what is said of two scalars of a type, which nobody is certain of.
func remarksOn(t *testing.T, kind, a, b string) string {
	t.Helper()
	of := func(more string) *schema {
		return parsed(t, `{"type":"`+kind+`"`+strings.TrimSuffix(","+more, ",")+`}`)
	}
	w := &work{from: "v1", to: "v2"}
	w.values([]string{"f"}, of(a), of(b))
	var all []string
	for _, op := range w.ordered() {
		if op.Certain || op.At != "f" {
			t.Errorf("{%s} and {%s}: %+v", a, b, op)
		}
		all = append(all, op.Why)
	}
	return strings.Join(all, "\n")
}

// Values get the name that is most like theirs, what is alone on both sides is taken for the
// same, and what is left is named; only the same words are certain.
func TestValuesOfEnumsAreMatched(t *testing.T) {
	for _, c := range []struct {
		a, b, values, left string
		certain            bool
	}{
		{a: "a-b,same", b: "same,AB", values: "map[a-b:AB]", certain: true},
		{a: "fast-one", b: "fast,FAST_ONE,Fast", values: "map[fast-one:FAST_ONE]", left: "fast, Fast"}, // not the first that is alike
		{a: "Recreate", b: "Zinc", values: "map[Recreate:Zinc]"},
		{a: "apples,plums", b: "Zinc,Iron", values: "map[]", left: "apples, plums, Zinc, Iron"},
		{a: "apples", b: "Zinc,Iron", values: "map[]", left: "apples, Zinc, Iron"},
		{a: "apples,plums", b: "Zinc", values: "map[]", left: "apples, plums, Zinc"},
		{a: "one,two,apples", b: "One,Two,Zinc", values: "map[apples:Zinc one:One two:Two]"},
		{a: "one,two", b: "One,Two,Zinc", values: "map[one:One two:Two]", left: "Zinc"},
		{a: "one,apples,two", b: "One,Two", values: "map[one:One two:Two]", left: "apples"},
		{a: "max-count", b: "count", values: "map[max-count:count]"},  // alike is not certain
		{a: "one,uno", b: "One", values: "map[one:One]", left: "uno"}, // a name is given once
		{a: ">,<", b: "<=,>=", values: "map[]", left: ">, <, <=, >="}, // which have no letters
		{a: "*", b: ",all", values: "map[]", left: "*, , all"},
		{a: "*", b: "", values: "map[*:]"},     // alone on both sides, and no more than that
		{a: "-1", b: "1", values: "map[-1:1]"}, // signs and points say something
		{a: "1.0,2", b: "10,2", values: "map[1.0:10]"},
		{a: "+fast", b: "fast", values: "map[+fast:fast]"},
		{a: "v1-0", b: "v10", values: "map[v1-0:v10]"},
		{a: "if not_present,on-demand", b: "IfNotPresent,OnDemand", values: "map[if not_present:IfNotPresent on-demand:OnDemand]", certain: true},
		{a: "tls-1", b: "TLS_1", values: "map[tls-1:TLS_1]", certain: true},
		{a: "refs", b: "reference", values: "map[refs:reference]"}, // which is a stem, and no case
		{a: "-fast", b: "fast", values: "map[-fast:fast]"},
	} {
		w := &work{from: "v1", to: "v2"}
		w.enum([]string{"f"}, strings.Split(c.a, ","), strings.Split(c.b, ","))
		ops := w.ordered()
		if len(ops) != 1 {
			t.Fatalf("%s as %s: %+v", c.a, c.b, ops)
		}
		values, why := map[string]string{}, "v2 has other names for values"
		if ops[0].Map != nil {
			values = ops[0].Map.Values
		}
		if c.left != "" {
			why += "; without a counterpart: " + c.left
		}
		if op := ops[0]; fmt.Sprint(values) != c.values || op.Why != why || op.Certain != c.certain || (op.Map == nil) != (c.values == "map[]") {
			t.Errorf("%s as %s: %v, %t, %s", c.a, c.b, values, op.Certain, op.Why)
		}
	}
}

// What else a schema asks for is told at the field, by its names.
func TestStricterSchemasAreTold(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`"type":"array","items":{"type":"string"}`, `"type":"array","maxItems":3,"minItems":1,"uniqueItems":true,"items":{"type":"string"}`, "maxItems, minItems, uniqueItems"},
		{`"type":"array","maxItems":4,"minItems":1`, `"type":"array","maxItems":3,"minItems":2`, "maxItems, minItems"},
		{`"type":"array","maxItems":3,"minItems":2`, `"type":"array","maxItems":4,"minItems":1`, ""},
		{`"type":"array"`, `"type":"array","minItems":0`, ""},
		{`"type":"object"`, `"type":"object","maxProperties":3,"minProperties":1`, "maxProperties, minProperties"},
		{`"type":"object","additionalProperties":{"type":"string"}`, `"type":"object","additionalProperties":{"type":"string"},"maxProperties":3`, "maxProperties"},
		{`"type":"string","nullable":true`, `"type":"string"`, "nullable"},
		{`"type":"string"`, `"type":"string","nullable":true`, ""},
		{`"type":"string"`, `"type":"string","format":"date-time"`, "format"},
		{`"type":"string","format":"date-time"`, `"type":"string"`, ""},
		{`"type":"integer"`, `"type":"integer","format":"int64"`, ""},
		{`"type":"integer","format":"int64"`, `"type":"integer","format":"int32"`, "format"},
		{`"type":"integer"`, `"type":"integer","multipleOf":5`, "multipleOf"},
		{`"type":"integer","multipleOf":5`, `"type":"integer","multipleOf":5`, ""},
		{`"type":"integer","minimum":0,"maximum":9`, `"type":"integer","minimum":0,"maximum":9,"exclusiveMinimum":true,"exclusiveMaximum":true`, "exclusiveMaximum, exclusiveMinimum"},
		{`"type":"string","x-kubernetes-validations":[{"rule":"self != 'a'"}]`, `"type":"string","x-kubernetes-validations":[{"rule":"self != 'a'"},{"rule":"self != 'b'"}]`, "x-kubernetes-validations"},
		{`"type":"string","x-kubernetes-validations":[{"rule":"self != 'a'"}]`, `"type":"string","x-kubernetes-validations":[{"rule":"self != 'a'","message":"no a"}]`, ""},
	} {
		var want []string
		if c.want != "" {
			want = []string{"f: v2 asks for more than v1, so that some values may not be valid there: " + c.want + "?"}
		}
		expectGuess(t, c.b, `{"f":{`+c.a+`}}`, `{"f":{`+c.b+`}}`, want...)
	}
}
