package main

import (
	"encoding/json"
	"testing"
)

func TestPolicy(t *testing.T) {
	for payload, want := range map[string]string{
		`{"settings":{"required":["team"]},"request":{"object":{"kind":"A","metadata":{"name":"a"}}}}`:                                 `{"accepted":false,"message":"A a needs a label \"team\"","code":422}`,
		`{"settings":{"required":["team"]},"request":{"object":{"kind":"A","metadata":{"name":"a","labels":{"team":"none"}}}}}`:        `{"accepted":true,"audit_annotations":{"required":"[team]"},"warnings":["nobody is responsible for a"]}`,
		`{"settings":{"required":["a"],"tier":"x"},"request":{"object":{"kind":"A","metadata":{"labels":{"a":"b"}}}}}`:                 `{"accepted":true,"mutated_object":{"kind":"A","metadata":{"labels":{"a":"b","tier":"x"}}},"audit_annotations":{"required":"[a]"}}`,
		`{"settings":{"required":["a"],"tier":"x"},"request":{"object":{"kind":"A","metadata":{"labels":{"a":"b","tier":"y"}}}}}`:      `{"accepted":true,"audit_annotations":{"required":"[a]"}}`,
		`{"settings":{"required":["a"],"team":"t"},"request":{"namespace":"n","object":{"kind":"A","metadata":{"labels":{"a":"b"}}}}}`: `there is no host`,
	} {
		answer, err := validate([]byte(payload))
		got, _ := json.Marshal(answer)
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%s: %s, want %s", payload, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	for settings, want := range map[string]string{
		`{"required":["team"]}`: `{"valid":true}`,
		`{}`:                    `{"message":"required names no label","valid":false}`,
	} {
		answer, err := validateSettings([]byte(settings))
		if got, _ := json.Marshal(answer); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", settings, got, err, want)
		}
	}
	if _, err := validateSettings([]byte(`[]`)); err == nil {
		t.Error("a list is settings")
	}
}
