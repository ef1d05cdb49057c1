package object

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const entry = `{"manager":"m","operation":"Apply","apiVersion":"g/v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"subresource":"status"}`

// managedFields that have the form of the API's own type are not taken apart;
// whatever else stands there is parsed like the rest.
func TestManagedFieldsAreLeftAsTheyAre_SSA05(t *testing.T) {
	for value, raw := range map[string]bool{
		`[` + entry + `]`:                     true,
		`[` + entry + `,` + entry + `]`:       true,
		` [ ` + entry + ` , {} ] `:            true,
		`[{}]`:                                true,
		`[{"subresource":""}]`:                true,
		`[]`:                                  false,
		`null`:                                false,
		`{}`:                                  false,
		`{"manager":{}}`:                      false,
		`"x"`:                                 false,
		`[1]`:                                 false,
		`[[]]`:                                false,
		`[{},1]`:                              false,
		`[{},[{}]]`:                           false,
		`[{"x":"y"}]`:                         false,
		`[{"manager":"a","manager":"b"}]`:     false,
		`[{"manager":1}]`:                     false,
		`[{"subresource":null}]`:              false,
		`[{"fieldsV1":"x"}]`:                  false,
		`[{"fieldsV1":[]}]`:                   false,
		`[{"time":1}]`:                        false,
		`[{"time":"yesterday"}]`:              false,
		`[{"time":"2020-01-01T00:00:00.5Z"}]`: false,
		`[{"manager":"` + "\xff" + `"}]`:      false,
		`[{"m\u0061nager":"a"}]`:              false,
		`[{"fieldsV1":{"f:a":{"f:b":{}}}},{"time":"2020-01-01T00:00:00Z"}]`: true,
	} {
		text := `{"metadata":{"name":"n","managedFields":` + value + `,"uid":"u"},"spec":{"managedFields":[{}],"metadata":{"managedFields":[{}]}},"managedFields":[{}]}`
		tree, _, err := ParseObject([]byte(text))
		if err != nil {
			if strings.Contains(value, "\xff") {
				continue
			}
			t.Fatalf("%s: %v", value, err)
		}
		meta := tree["metadata"].(map[string]any)
		m, ok := meta["managedFields"].(Managed)
		if ok != raw || ok && string(m) != strings.TrimSpace(value) || meta["uid"] != "u" {
			t.Errorf("%s: raw %t, %s", value, ok, m)
		}
		if end, ok := ManagedEnd([]byte(value+",x"), 0); ok != raw || ok && end != len(strings.TrimRight(value, " ")) {
			t.Errorf("%s ends at %d, raw %t", value, end, ok)
		}
		// In no other place, and not when it is not asked for.
		spec := tree["spec"].(map[string]any)
		for _, other := range []any{tree["managedFields"], spec["managedFields"], spec["metadata"].(map[string]any)["managedFields"]} {
			if _, raw := other.(Managed); raw {
				t.Errorf("%s: other managedFields are raw", value)
			}
		}
		if tree, _, err = Parse([]byte(text)); err != nil {
			t.Fatal(err)
		} else if _, raw := tree["metadata"].(map[string]any)["managedFields"].(Managed); raw {
			t.Errorf("%s: parsed as a part they are raw", value)
		}
	}
	for _, cut := range []string{``, `[`, `[{`, `[{}`, `[{"manager"`, `[{"manager":"a"`, `x`} {
		if _, ok := ManagedEnd([]byte(cut), 0); ok {
			t.Errorf("%q is well-formed", cut)
		}
	}
	for _, cut := range []string{``, `{`, `{"manager"`, `{"manager":"a"`, `{"manager":"a",`, `[]`, `x`} {
		if _, ok := managerEnd([]byte(cut), 0); ok {
			t.Errorf("%q is a tidy entry", cut)
		}
	}
}

func TestTimesAsTheAPIPrintsThem(t *testing.T) {
	for s, want := range map[string]bool{
		"2020-01-01T00:00:00Z": true, "1999-12-31T23:59:59Z": true,
		"": false, "2020-01-01T00:00:00z": false, "2020-01-01T00:00:00+": false, "2020-13-01T00:00:00Z": false, "2020-01-01 00:00:00Z": false,
		"2020-01-01T00:00:00.0Z": false, "0001-01-01T00:00:00Z": false, "2020-01-01T0:00:00ZZ": false, "2020-01-01T01:00+01:0Z": false,
	} {
		if got := IsTime(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}

func TestManagedFieldsAreTakenAndGiven(t *testing.T) {
	for in, want := range map[string]string{
		`{"metadata":{"managedFields":[` + entry + `],"name":"n"}}`: `[` + entry + `]`,
		`{"metadata":{"managedFields":[{"x":1}],"name":"n"}}`:       `[{"x":1}]`,
		`{"metadata":{"managedFields":[],"name":"n"}}`:              `[]`,
		`{"metadata":{"managedFields":null,"name":"n"}}`:            ``,
		`{"metadata":{"name":"n"}}`:                                 ``,
		`{}`:                                                        ``,
		`{"metadata":[]}`:                                           ``,
	} {
		tree, _, err := ParseObject([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		raw := strings.Contains(in, entry)
		detached := Clone(tree)
		if m := Detach(detached); (m != nil) != raw || raw && string(m) != want || Equal(detached, tree) == raw {
			t.Errorf("%s: detached %s", in, m)
		}
		m, err := TakeManaged(tree)
		if err != nil || string(m) != want || (m == nil) != (want == "") {
			t.Errorf("%s: took %s, %v", in, m, err)
		}
		meta, there := tree["metadata"].(map[string]any)
		if _, left := meta["managedFields"]; left {
			t.Errorf("%s: they are still there", in)
		}
		if SetManaged(tree, Managed("[{}]")); there && string(meta["managedFields"].(Managed)) != "[{}]" || !there && len(tree) > 1 {
			t.Errorf("%s: set, %v", in, tree)
		}
		SetManaged(tree, nil)
		if _, left := meta["managedFields"]; left {
			t.Errorf("%s: set to none, %v", in, tree)
		}
	}
	if m, err := TakeManaged(map[string]any{"metadata": map[string]any{"managedFields": make(chan int)}}); err == nil {
		t.Errorf("took %s", m)
	}
}

func TestManagersAreKeptByTheirVersion_CRD32(t *testing.T) {
	one, two, none := `{"apiVersion":"g/v1","manager":"a"}`, `{"manager":"b","apiVersion":"g/v2"}`, `{"manager":"c"}`
	for in, want := range map[string]string{
		`[` + one + `]`:             `[` + one + `]`,
		`[` + one + `,` + one + `]`: `[` + one + `,` + one + `]`,
		`[` + two + `]`:             ``,
		`[` + two + `,` + one + `]`: `[` + one + `]`,
		`[` + one + `,` + two + `,` + one + `,` + none + `]`: `[` + one + `,` + one + `]`,
		`[]`: `[]`, `{}`: `{}`, `x`: `x`,
	} {
		got, changed := KeepManagers(Managed(in), func(v string) bool { return v == "g/v1" })
		if string(got) != want || changed != (want != in) || (got == nil) != (want == "") {
			t.Errorf("%s: got %s, changed %t", in, got, changed)
		}
	}
}

// TestManagedAsWritten holds what is said of managers without reading them to what is
// written of those that were read.
func TestManagedAsWritten(t *testing.T) {
	entry := func(fields string) string { return `[{` + fields + `}]` }
	for text, want := range map[string]bool{
		entry(`"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{"k:{\"name\":\"b c\"}":{}}},"manager":"m","operation":"Update","subresource":"status","time":"2020-01-02T03:04:05Z"`): true,
		`[{"manager":"a"},{"manager":"b"}]`:      true,
		`[{}]`:                                   true,
		`[]`:                                     false,
		` [{}]`:                                  false,
		`[{}] `:                                  false,
		`[{},null]`:                              false,
		`{}`:                                     false,
		`[`:                                      false,
		entry(`"manager":"m","apiVersion":"v1"`): false,
		entry(`"manager":""`):                    false,
		entry(`"manager":"m" `):                  false,
		entry(`"manager":"a\"b"`):                false,
		entry(`"manager":"a<b"`):                 false,
		entry(`"manager":"a&b"`):                 false,
		entry(`"manager":"a>b"`):                 false,
		entry(`"manager":"é"`):                   false,
		entry(`"manager":"m","manager":"m"`):     false,
		entry(`"manager":1`):                     false,
		entry(`"x":"m"`):                         false,
		entry(`"fieldsV1":{"f:a": {}}`):          false,
		entry(`"fieldsV1":{}`):                   true,
		entry(`"fieldsV1":null`):                 false,
		entry(`"time":"1970-01-01T00:00:00Z"`):   false,
		entry(`"time":"2020-01-02T03:04:05.5Z"`): false,
		"[{\"manager\":\"m\",\n\"operation\":\"\"}]": false,
		`[{"manager":"a"},{"manager":""}]`:           false,
	} {
		m := Managed(text)
		if got := m.AsWritten(); got != want {
			t.Errorf("%s: %v", text, got)
		}
		var read []metav1.ManagedFieldsEntry
		if err := json.Unmarshal(m, &read); !want || err != nil {
			continue
		}
		if back, err := encodeManagers(read); err != nil || string(back) != text {
			t.Errorf("%s is written as %s: %v", text, back, err)
		}
	}
}
