package quantity

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
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
