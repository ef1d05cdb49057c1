package crontab

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/sdk"
)

func TestConvert_CRD14(t *testing.T) {
	same := func(got []byte, want string) bool {
		var x, y any
		return json.Unmarshal(got, &x) == nil && json.Unmarshal([]byte(want), &y) == nil && reflect.DeepEqual(x, y)
	}
	const head = `{"apiVersion":"example.com/%s","kind":"CronTab","metadata":{"name":"a","namespace":"default"}`
	for _, c := range []struct{ v1beta1, v1 string }{
		{`,"hostPort":"localhost:1234"}`, `,"host":"localhost","port":"1234"}`},
		{`,"hostPort":"[::1]:80","spec":{"x":1}}`, `,"spec":{"x":1},"host":"[::1]","port":"80"}`},
		{`}`, `}`},
	} {
		old, current := fmt.Sprintf(head, "v1beta1")+c.v1beta1, fmt.Sprintf(head, "v1")+c.v1
		if got, err := sdk.Apply([]byte(old), "example.com/v1"); err != nil || !same(got, current) {
			t.Errorf("to v1: got %s, %v\nwant %s", got, err, current)
		}
		got, err := sdk.Apply([]byte(current), "example.com/v1beta1")
		if err != nil {
			t.Fatal(err)
		}
		if again, err := sdk.Apply(got, "example.com/v1"); err != nil || !same(again, current) {
			t.Errorf("there and back: got %s, %v\nwant %s", again, err, current)
		}
	}
}

func TestUnparsableHostPort_CRD15(t *testing.T) {
	_, err := sdk.Apply([]byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a","namespace":"default"},"hostPort":"nonsense"}`), "example.com/v1")
	if err == nil || !strings.HasSuffix(err.Error(), "CronTab default/a: hostPort could not be parsed into a separate host and port") {
		t.Errorf("got %v", err)
	}
}
