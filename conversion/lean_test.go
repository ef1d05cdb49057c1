package conversion_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion"
)

const managers = `"managedFields":[{"fieldsV1":{"f:x":{}},"manager":"m","operation":"Update","time":"2026-11-21T08:38:56Z"}]`

// lean returns what a converter made by c was sent of an object, and what came back.
func lean(t *testing.T, c func(conversion.Converter) conversion.Converter, object string) (sent, got string) {
	t.Helper()
	inner := convertFunc(func(desired string, objects [][]byte) ([][]byte, error) {
		sent = string(objects[0])
		return reply()(desired, objects)
	})
	out, err := c(inner).Convert(t.Context(), "example.com/v1", [][]byte{[]byte(object)})
	if err != nil {
		t.Fatal(err)
	}
	return sent, string(out[0])
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// A lean converter is not sent managedFields, wherever they are, and the
// result has them as they were.
func TestLeanConvertersAreNotSentManagedFields(t *testing.T) {
	for name, object := range map[string]string{
		"in the middle": strings.Replace(original, `"name"`, managers+`,"name"`, 1),
		"first":         strings.Replace(original, `"annotations"`, managers+`,"annotations"`, 1),
		"last":          strings.Replace(original, `"uid":"2fd0"`, `"uid":"2fd0",`+managers, 1),
		"escaped":       strings.Replace(original, `"name"`, strings.Replace(managers, "F", `\u0046`, 1)+`,"name"`, 1),
		"twice":         strings.Replace(original, `"name"`, managers+`,`+managers+`,"name"`, 1),
		"none":          original,
	} {
		sent, got := lean(t, leanly, object)
		if sent != original {
			t.Errorf("%s: sent %s", name, sent)
		}
		if want := strings.Replace(object, "v1beta1", "v1", 1); !sameJSON(got, want) {
			t.Errorf("%s: got  %s\nwant %s", name, got, want)
		}
		if sent, got = lean(t, conversion.Checked, object); sent != object || !sameJSON(got, strings.Replace(object, "v1beta1", "v1", 1)) {
			t.Errorf("%s: a converter that is not lean was sent %s", name, sent)
		}
	}
	// Fields of that name elsewhere are the object's own.
	other := strings.Replace(original, `"x":1`, `"spec":{`+managers+`},`+managers, 1)
	if sent, _ := lean(t, leanly, other); sent != other {
		t.Errorf("sent %s", sent)
	}
	// Nothing else of the metadata.
	only := `{"apiVersion":"example.com/v1beta1","kind":"Conv","metadata":{` + managers + `}}`
	if sent, got := lean(t, leanly, only); !strings.Contains(sent, `"metadata":{}}`) || got != strings.Replace(only, "v1beta1", "v1", 1) {
		t.Errorf("sent %s, got %s", sent, got)
	}
}

// What a lean converter makes up for managedFields is not taken over.
func TestLeanConvertersCannotMakeManagedFields(t *testing.T) {
	for _, object := range []string{original, strings.Replace(original, `"name"`, managers+`,"name"`, 1)} {
		out, err := leanly(reply(`"name"`, `"managedFields":[],"name"`)).Convert(t.Context(), "example.com/v1", [][]byte{[]byte(object)})
		if want := strings.Replace(object, "v1beta1", "v1", 1); err != nil || string(out[0]) != want {
			t.Errorf("got %s, %v", out, err)
		}
	}
}

func TestCheckedConvertersStayAsTheyAre(t *testing.T) {
	c := conversion.Checked(reply())
	l := leanly(reply())
	if leanly(c) != c || conversion.Checked(l) != l || leanly(l) != l {
		t.Error("a checked converter was wrapped again")
	}
}

// leanly is [conversion.Lean] of a converter that nobody tells of.
func leanly(c conversion.Converter) conversion.Converter {
	return conversion.Lean(c, conversion.Told{})
}
