package tags

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// object is one that the rules of a tag are tried on.
type object struct {
	json string
	// want are the fields that are refused, each with why.
	want []string
}

func valid(json string) object                   { return object{json: json} }
func invalid(json string, want ...string) object { return object{json, want} }

// check validates an object as one of a type, by the rules that were generated.
func check(t *testing.T, of any, o object, options map[string]bool, subresources ...string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(o.json))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(of); err != nil {
		t.Fatalf("%s: %v", o.json, err)
	}
	got := []string{}
	for _, err := range localSchemeBuilder.Validate(t.Context(), options, of, subresources...) {
		got = append(got, fmt.Sprintf("%s: %s", err.Field, err.Type))
	}
	slices.Sort(got)
	slices.Sort(o.want)
	if !slices.Equal(got, o.want) {
		t.Errorf("%T %s %v %v:\n got %q\nwant %q", of, o.json, options, subresources, got, o.want)
	}
}

// rules are objects of a type beside what is wrong with them.
func rules[T any](objects ...object) func(*testing.T) {
	return func(t *testing.T) {
		for _, o := range objects {
			check(t, new(T), o, nil)
		}
	}
}

// TestTags tries what each tag means, what the documents say of it first.
func TestTags(t *testing.T) {
	t.Run("DV-05 for each key, and each value of a map or a list", rules[Each](
		valid(`{"keys":{"abc":""},"values":{"a":1},"items":[1,2]}`), valid(`{}`),
		invalid(`{"values":{"a":1,"b":0}}`, "values[b]: Invalid value"),
		invalid(`{"keys":{"abcd":"","ab":""}}`, "keys: Too long"),
		invalid(`{"items":[1,0,-1]}`, "items[1]: Invalid value", "items[2]: Invalid value")))
	t.Run("DV-06 one of the constants", rules[Enum](
		valid(`{"letter":"A"}`), valid(`{"letter":"B"}`),
		invalid(`{"letter":"C"}`, "letter: Unsupported value"), invalid(`{"letter":"a"}`, "letter: Unsupported value"),
		invalid(`{}`, "letter: Unsupported value")))
	t.Run("DV-07 required, optional, forbidden", rules[Presence](
		valid(`{"required":"x","pointer":0}`), valid(`{"required":"x","pointer":1,"optional":"y","short":"abc"}`),
		invalid(`{"pointer":1}`, "required: Required value"), invalid(`{"required":"","pointer":1}`, "required: Required value"),
		invalid(`{"required":"x"}`, "pointer: Required value"),
		invalid(`{"required":"x","pointer":1,"forbidden":"z"}`, "forbidden: Forbidden"),
		invalid(`{"required":"x","pointer":1,"short":"abcd"}`, "short: Too long")))
	t.Run("DV-08 names and addresses", rules[Format](
		valid(`{}`), valid(`{"ip":"192.168.0.1","long":"a.example.com","short":"a-1"}`),
		valid(`{"ip":"010.000.001.012"}`), valid(`{"ip":"2001:db8::1"}`),
		invalid(`{"ip":"256.0.0.1"}`, "ip: Invalid value"), invalid(`{"ip":"10.0.0"}`, "ip: Invalid value"),
		invalid(`{"ip":"2001:db8::g"}`, "ip: Invalid value"),
		valid(fmt.Sprintf(`{"long":%q,"short":%q}`, strings.Repeat("a.", 126)+"a", strings.Repeat("a", 63))),
		invalid(fmt.Sprintf(`{"long":%q,"short":%q}`, strings.Repeat("a.", 126)+"aa", strings.Repeat("a", 64)), "long: Invalid value", "short: Invalid value"),
		invalid(`{"long":"A.example","short":"a.b"}`, "long: Invalid value", "short: Invalid value"),
		invalid(`{"long":"-a","short":"a-"}`, "long: Invalid value", "short: Invalid value")))
	t.Run("DV-12 lists as sets and maps", rules[List](
		valid(`{"atomic":["a","a"],"set":["a","b"],"map":[{"number":1,"protocol":"TCP"},{"number":1,"protocol":"UDP"},{"number":2,"protocol":"TCP"}]}`),
		invalid(`{"set":["a","b","a"]}`, "set[2]: Duplicate value"),
		invalid(`{"map":[{"number":1,"protocol":"TCP","name":"a"},{"number":1,"protocol":"TCP","name":"b"}]}`, "map[1]: Duplicate value")))
	t.Run("DV-13 one item of a list", rules[Item](
		valid(`{"conditions":[{"type":"Approved"},{"type":"Failed"}]}`), valid(`{"conditions":[{"type":"Denied"}]}`), valid(`{}`),
		invalid(`{"conditions":[{"type":"Approved"},{"type":"Denied"}]}`, "conditions: Invalid value"),
		invalid(`{"slots":[{"name":"a","row":42,"free":true}]}`, "slots[0].note: Required value"),
		valid(`{"slots":[{"name":"a","row":42,"free":true,"note":"x"},{"name":"a","row":42},{"name":"a","row":41,"free":true},{"name":"b","row":42,"free":true}]}`)))
}

func TestTagsOfValues(t *testing.T) {
	t.Run("DV-14 the most and the least", rules[Limit](
		valid(`{"items":["","","","",""],"text":"0123456789","number":0}`),
		valid(`{"text":"äöüäöüäöüä"}`),
		invalid(`{"items":["","","","","",""]}`, "items: Too many"),
		invalid(`{"text":"0123456789x"}`, "text: Too long"), invalid(`{"text":"äöüäöüäöüäx"}`, "text: Too long"),
		invalid(`{"number":-1}`, "number: Invalid value")))
	t.Run("DV-15 another value", rules[Other](
		valid(`{"text":"allowed","number":1,"flag":false}`), valid(`{"number":-1}`),
		invalid(`{"text":"disallowed","number":1}`, "text: Invalid value"),
		invalid(`{"number":0}`, "number: Invalid value"),
		invalid(`{"number":1,"flag":true}`, "flag: Invalid value")))
	t.Run("DV-16 the rules of an opaque type do not count", rules[Opaque](
		valid(`{"seen":{"name":"x"}}`),
		invalid(`{"seen":{},"unseen":{}}`, "seen.name: Required value")))
	t.Run("DV-17 a rule for a field of a field", rules[Subfield](
		valid(`{"inner":{"name":"x","note":"y"}}`),
		invalid(`{"inner":{"name":"x"}}`, "inner.note: Required value")))
	t.Run("DV-18 what the discriminator names, or exactly one", rules[Union](
		valid(`{"d":"M1","m1":{},"u1":{}}`), valid(`{"d":"Second","m2":{},"u2":{}}`),
		invalid(`{"d":"M1","m2":{},"u1":{}}`, "m1: Invalid value", "m2: Invalid value"),
		invalid(`{"d":"M1","m1":{},"m2":{},"u1":{}}`, "m2: Invalid value"),
		invalid(`{"d":"Second","u1":{}}`, "m2: Invalid value"),
		invalid(`{"d":"M1","m1":{},"u1":{},"u2":{}}`, "<nil>: Invalid value"),
		invalid(`{"d":"M1","m1":{}}`, "<nil>: Invalid value")))
	t.Run("DV-19 one or none", rules[AtMostOne](
		valid(`{}`), valid(`{"m1":{}}`), valid(`{"m2":{},"o1":{}}`), valid(`{"m1":{},"o2":{}}`),
		invalid(`{"m1":{},"m2":{}}`, "<nil>: Invalid value"),
		invalid(`{"m1":{},"o1":{},"o2":{}}`, "<nil>: Invalid value")))
}

func TestOptions(t *testing.T) {
	t.Run("DV-09 rules that are in force by an option", func(t *testing.T) {
		on, off := map[string]bool{"my-feature": true}, map[string]bool{"my-feature": false}
		check(t, new(Option), valid(`{"enabled":"x"}`), on)
		check(t, new(Option), invalid(`{"disabled":"x"}`, "enabled: Required value"), on)
		check(t, new(Option), valid(`{"disabled":"x"}`), off)
		check(t, new(Option), invalid(`{"enabled":"x"}`, "disabled: Required value"), off)
	})
}

func TestSubresources(t *testing.T) {
	t.Run("DV-10 only subresources that were declared have rules", func(t *testing.T) {
		check(t, new(Whole), invalid(`{"replicas":0}`, "replicas: Invalid value"), nil)
		check(t, new(Whole), invalid(`{"replicas":1}`, "<nil>: Internal error"), nil, "status")
		for _, subresource := range [][]string{nil, {"status"}, {"scale"}} {
			check(t, new(Served), valid(`{"replicas":1}`), nil, subresource...)
			check(t, new(Served), invalid(`{"replicas":0}`, "replicas: Invalid value"), nil, subresource...)
		}
		check(t, new(Served), invalid(`{"replicas":1}`, "<nil>: Internal error"), nil, "log")
		refused := localSchemeBuilder.Validate(t.Context(), nil, &Whole{}, "status")
		if got := refused.ToAggregate().Error(); !strings.Contains(got, "no validation found for *tags.Whole, subresource: /status") {
			t.Error(got)
		}
	})
	t.Run("DV-11 rules of a subresource alone", func(t *testing.T) {
		check(t, new(Scale), valid(`{"replicas":1}`), nil, "scale")
		check(t, new(Scale), invalid(`{"replicas":0}`, "replicas: Invalid value"), nil, "scale")
		check(t, new(Scale), invalid(`{"replicas":1}`, "<nil>: Internal error"), nil)
		check(t, new(Scale), invalid(`{"replicas":1}`, "<nil>: Internal error"), nil, "status")
		// Whole does not say that it has /scale, so nobody gets to its rules by that way.
		check(t, new(Whole), invalid(`{"replicas":1}`, "<nil>: Internal error"), nil, "scale")
	})
}
