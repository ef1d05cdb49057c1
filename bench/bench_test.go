package main

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestDefinitionAndObjectsAreJSON(t *testing.T) {
	for _, text := range [][]byte{definition(""), definition(`{"url":"wasm://bench"}`), body(7, 3), configuration(7, "v")} {
		if !json.Valid(text) {
			t.Errorf("not JSON: %s", text)
		}
	}
	if n := len(body(1234, 0)); n < 1000 || n > 1500 {
		t.Errorf("an object has %d bytes; the documentation says 1.2 KB", n)
	}
}

func TestConvertRoundTrip(t *testing.T) {
	spec := map[string]any{"hostPort": "a:1", "replicas": 3.0}
	convert(spec, true)
	if want := map[string]any{"host": "a", "port": "1", "replicas": 3.0}; !reflect.DeepEqual(spec, want) {
		t.Errorf("split: %v", spec)
	}
	convert(spec, false)
	if want := map[string]any{"hostPort": "a:1", "replicas": 3.0}; !reflect.DeepEqual(spec, want) {
		t.Errorf("joined: %v", spec)
	}
}

func TestSummarize(t *testing.T) {
	var latencies []time.Duration
	for i := 100; i > 0; i-- {
		latencies = append(latencies, time.Duration(i)*time.Millisecond)
	}
	m := summarize(latencies, 2*time.Second, time.Second)
	if m.Ops != 100 || m.Rate != 50 || m.P50 != 50 || m.P99 != 99 || m.CPU != 10000 {
		t.Errorf("%+v", m)
	}
	if m := summarize(nil, time.Second, 0); m.Ops != 0 || m.P99 != 0 {
		t.Errorf("nothing measured: %+v", m)
	}
}

func TestRatios(t *testing.T) {
	r := &report{}
	r.add(io.Discard, measurement{Step: "get", Server: "wasmgate", CPU: 20, Rate: 1000, P50: 2})
	r.add(io.Discard, measurement{Step: "get", Server: "peer", CPU: 500, Rate: 100, P50: 8})
	if got := r.ratios(); len(got) != 1 || got[0] != (ratio{"get", 25, 10, 4}) {
		t.Errorf("%+v", got)
	}
}

func TestSelectSteps(t *testing.T) {
	all, err := selectSteps(strings.Join(stepNames(), ","))
	if err != nil || len(all) != len(steps) {
		t.Errorf("%d steps: %v", len(all), err)
	}
	if _, err := selectSteps("create,levitate"); err == nil || !strings.Contains(err.Error(), "levitate") {
		t.Errorf("unknown step: %v", err)
	}
}
