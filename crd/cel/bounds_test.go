package cel

import (
	"strings"
	"testing"
)

// One step of a policy's expression makes no text of a terabyte, nor compares what
// has billions of parts: the library counts such steps after they were made.
func TestStepsOfPoliciesAreBounded_CEL25(t *testing.T) {
	long := `"` + strings.Repeat("x", 1000) + `"`
	for text, want := range map[string]string{
		"[" + long + "].map(a, a.replace('x', a)).map(b, b.replace('x', b)) == []": "bytes of a text",
		"[0].map(a, [a, a, a]).map(a, [a, a, a]).map(a, [a, a, a]) != []":          "",
		"'%.999999999f'.format([1.0]) == ''":                                       "bytes of a text",
		"lists.range(1000000000).size() == 0":                                      "items of a list",
	} {
		_, err := evaluated(t, text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}
