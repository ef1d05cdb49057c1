package quantity

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
)

// In a text all that is there counts, also what is there again, and numbers.
func TestCheckText(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"metadata":{"name":"BAD","labels":{"a":"BAD","a":"BAD"}},"spec":{"containers":[{"name":"BAD"}]},"x":[{"y":"BAD"}]}`: true,
		`{"spec":{"containers":[{},{"resources":{"limits":{"cpu":"1","x":"BAD"}}}]}}`:                                         false,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":"BAD","cpu":"1"}}}]}}`:                                          false,
		`{"spec":{"overhead":{"cpu":"BAD"},"overhead":{"cpu":"1"}}}`:                                                          false,
		`{"spec":{"overhead":{"cpu":"BAD"}},"spec":{}}`:                                                                       false,
		`{"spec":{"overhead":{"cpu":"BAD"}},"spec":null}`:                                                                     false,
		"{ \"spec\" : { \"overhead\" :\n{ \"cpu\" :\t\"BAD\" } } }":                                                           false,
		`{"spec":{"overhead":{"cpu":BAD}}}`:                                                                                   false,
		`{"spec":{"overhead":{"cpu": BAD }}}`:                                                                                 false,
		`{"spec":{"overhead":{"cpu":" BAD "}}}`:                                                                               false,
		`{"spec":{"overhe\u0061d":{"cpu":"BAD"}}}`:                                                                            false,
		`{"spec":{"overhead":{"cpu":"1e3","x":1.5,"y":null,"z":[1],"a":{"b":"BAD"}},"priority":1}}`:                           true, // is refused for that
		`{"spec":"BAD"}`: true,
		`"BAD"`:          true,
		`null`:           true,
		`[{"spec":1}]`:   true,
		`{"spec":{"containers":{"resources":"BAD"},"volumes":[{"emptyDir":{"sizeLimit":"BAD","sizeLimit":null}}]}}`: false,
	} {
		if err := CheckText([]byte(strings.ReplaceAll(text, "BAD", "1e-2000000000")), reflect.TypeFor[*corev1.Pod]()); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := CheckText([]byte(`{"a":1e2000000000}`), reflect.TypeFor[map[string]string]()); err != nil {
		t.Error(err)
	}
}

// CheckText lets escapes through, as who reads quantities takes none: an exponent that is
// spelled with them is no quantity, and is refused at once.
func TestQuantitiesAreReadAsTheyAreWritten(t *testing.T) {
	for _, text := range []string{`{"limits":{"cpu":"1\u0065-2000000000"}}`, `{"limits":{"cpu":"1e-200000000\u0030"}}`, `{"limits":{"cpu":"\u0031e-200000000\u0030"}}`} {
		var into, other corev1.ResourceRequirements
		if json.Unmarshal([]byte(text), &into) == nil {
			t.Errorf("%s is read as %v", text, into)
		}
		if _, err := kjson.UnmarshalStrict([]byte(text), &other); err == nil {
			t.Errorf("%s is read as %v", text, other)
		}
	}
}
