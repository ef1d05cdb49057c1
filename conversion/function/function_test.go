package function_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/convtest"
	"github.com/wasmgate/wasmgate/conversion/function"
)

// hostPort is the kit's conversion.
var hostPort = function.Converter(func(obj map[string]any, desired string) error {
	if desired == convtest.V1 {
		both, _ := obj["hostPort"].(string)
		obj["host"], obj["port"], _ = strings.Cut(both, ":")
		delete(obj, "hostPort")
	} else {
		obj["hostPort"] = obj["host"].(string) + ":" + obj["port"].(string)
		delete(obj, "host")
		delete(obj, "port")
	}
	obj["apiVersion"] = desired
	return nil
})

func TestFunction_CRD10(t *testing.T) {
	convtest.Run(t, convtest.Subject{Parsed: true, New: func(*testing.T) conversion.Converter { return hostPort }})
}

// A function needs no check of its replies: whatever it does, the object stays
// the one that it is.
func TestFunctionKeepsTheContract_CRD16(t *testing.T) {
	large := strings.Repeat("x", 300<<10) // more than an object may have that a client sends
	wild := function.Converter(func(obj map[string]any, _ string) error {
		obj["apiVersion"], obj["kind"] = "g/v9", "Other"
		obj["metadata"] = map[string]any{"name": "b", "uid": "u", "annotations": map[string]any{"large": large}}
		return nil
	})
	if conversion.Checked(wild).(function.Converter) == nil {
		t.Error("it is checked")
	}
	in := `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"a":"1"},"labels":{"l":"1"},"name":"a"}}`
	out, err := wild.Convert(t.Context(), "g/v2", [][]byte{[]byte(in), []byte(`{"apiVersion":"g/v1","kind":"K"}`)})
	want := `{"apiVersion":"g/v2","kind":"K","metadata":{"annotations":{"large":"` + large + `"},"name":"a"}}`
	if err != nil || string(out[0]) != want || string(out[1]) != `{"apiVersion":"g/v2","kind":"K"}` {
		t.Errorf("%.300s, %v", out, err)
	}
}

func TestFunctionFails(t *testing.T) {
	never := function.Converter(func(map[string]any, string) error { return errors.New("no") })
	var failure *conversion.Error
	if _, err := never.Convert(t.Context(), "g/v2", [][]byte{[]byte(`{"apiVersion":"g/v1"}`)}); !errors.As(err, &failure) || failure.Reason != "cannot convert object at index 0 to g/v2: no" {
		t.Error(err)
	}
	if out, err := never.Convert(t.Context(), "g/v2", [][]byte{[]byte(`{"apiVersion":"g/v2"}`)}); err != nil || string(out[0]) != `{"apiVersion":"g/v2"}` {
		t.Errorf("what is there already: %s, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := never.Convert(ctx, "g/v2", [][]byte{[]byte(`{}`)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
