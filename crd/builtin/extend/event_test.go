package extend_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// An event of core/v1 is held to the rules of today when it has an eventTime, in the words
// of kube-apiserver 1.36.3.
func TestWhatEventsMaySay(t *testing.T) {
	d := builtintest.Definitions(t)["event"]
	for _, c := range []struct{ body, want string }{
		{`{"metadata":{"name":"x"},"involvedObject":{"namespace":"bi-ns"}}`, ""},
		{`{"metadata":{"name":"x"},"involvedObject":{}}`, `involvedObject.namespace: Invalid value: "": does not match event.namespace`},
		{`{"metadata":{"name":"x"},"involvedObject":{"namespace":"other"}}`, `involvedObject.namespace: Invalid value: "other": does not match event.namespace`},
		{`{"metadata":{"name":"x"},"involvedObject":{"namespace":"bi-ns"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingComponent":"example.com/c","reportingInstance":"i","action":"a","reason":"r"}`, ""},
		{`{"metadata":{"name":"x"},"involvedObject":{},"eventTime":"2026-01-01T00:00:00.000000Z","reportingComponent":"example.com/c","reportingInstance":"i","action":"a","reason":"r"}`, `involvedObject.namespace: Invalid value: "": does not match event.namespace`},
		{`{"metadata":{"name":"x"},"involvedObject":{"namespace":"bi-ns"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingComponent":"","reportingInstance":"","action":"","reason":""}`, `[reportingComponent: Required value, reportingComponent: Invalid value: "": name part must be non-empty, reportingComponent: Invalid value: "": ` + notQualified + `, reportingInstance: Required value, action: Required value, reason: Required value]`},
		{`{"metadata":{"name":"x"},"involvedObject":{"namespace":"bi-ns"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingComponent":"a b","reportingInstance":"` + strings.Repeat("i", 129) + `","action":"` + strings.Repeat("a", 129) + `","reason":"` + strings.Repeat("r", 129) + `","message":"` + strings.Repeat("m", 1025) + `"}`, `[reportingComponent: Invalid value: "a b": ` + notQualified + `, reportingInstance: Invalid value: "": can have at most 128 characters, action: Invalid value: "": can have at most 128 characters, reason: Invalid value: "": can have at most 128 characters, message: Invalid value: "": can have at most 1024 characters]`},
		{`{"metadata":{"name":"x"},"involvedObject":{"namespace":"bi-ns"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingComponent":"example.com/c","reportingInstance":"` + strings.Repeat("i", 128) + `","action":"` + strings.Repeat("a", 128) + `","reason":"` + strings.Repeat("r", 128) + `","message":"` + strings.Repeat("m", 1024) + `"}`, ""},
	} {
		err := crdtest.Creation(t, d, c.body)
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%.300s: %v (%v)\nwant %s", c.body, got, err, c.want)
		}
	}
}

// One that is written at events.k8s.io/v1 is held to them anyhow.
func TestWhatEventsOfTodayMaySay(t *testing.T) {
	layout := extend.Of(schema.GroupResource{Resource: "events"}).Layouts["events.k8s.io/v1"]
	for _, c := range []struct{ body, want string }{
		{`{"metadata":{"name":"x"},"regarding":{"namespace":"h3k"},"type":"Normal","eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r"}`, ""},
		{`{"metadata":{"name":"x"},"regarding":{"namespace":"h3k"},"type":"Normal","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r"}`, `eventTime: Required value`},
		{`{"metadata":{"name":"x"},"regarding":{"namespace":"h3k"},"type":"Odd","eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r"}`, `type: Invalid value: "": has invalid value: Odd`},
		{`{"metadata":{"name":"x"},"regarding":{"namespace":"h3k"},"type":"Normal","eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r","series":{"count":1,"lastObservedTime":null}}`, `[series.count: Invalid value: "": should be at least 2, series.lastObservedTime: Required value]`},
		{`{"metadata":{"name":"x"},"regarding":{"namespace":"h3k"},"type":"Normal","eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r","series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`, ""},
		{`{"metadata":{"name":"x"},"regarding":{"namespace":"h3k"},"type":"Normal","eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r","series":{"count":1,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`, `series.count: Invalid value: "": should be at least 2`},
		{`{"metadata":{"name":"x"},"regarding":{"namespace":"h3k"},"type":"Warning","eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r","deprecatedFirstTimestamp":"2026-01-01T00:00:00Z","deprecatedLastTimestamp":"2026-01-01T00:00:00Z","deprecatedCount":1,"deprecatedSource":{"host":"h"}}`, `[firstTimestamp: Invalid value: "": needs to be unset, lastTimestamp: Invalid value: "": needs to be unset, count: Invalid value: "": needs to be unset, source: Invalid value: "": needs to be unset]`},
		{`{"metadata":{"name":"x"},"regarding":{"namespace":"h3k"},"type":"Normal","eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"","reportingInstance":"i","action":"a","reason":"r"}`, `[reportingController: Required value, reportingController: Invalid value: "": name part must be non-empty, reportingController: Invalid value: "": ` + notQualified + `]`},
	} {
		home, err := layout.Home(crdtest.Parse(t, []byte(strings.Replace(c.body, `"name":"x"`, `"name":"x","namespace":"h3k"`, 1))))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if all := layout.ValidateAll("", home, nil).ToAggregate(); all != nil {
			got = all.Error()
		}
		if got != c.want {
			t.Errorf("%s: %v\nwant %s", c.body, got, c.want)
		}
	}
}

// What an event of today says of its series is looked at where it changes.
func TestSeriesOfEventsMayChange(t *testing.T) {
	layout := extend.Of(schema.GroupResource{Resource: "events"}).Layouts["events.k8s.io/v1"]
	event := func(series string) map[string]any {
		home, err := layout.Home(crdtest.Parse(t, []byte(`{"metadata":{"name":"x","namespace":"n","resourceVersion":"1"},"regarding":{"namespace":"n"},"type":"Normal","eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r"`+series+`}`)))
		if err != nil {
			t.Fatal(err)
		}
		return home
	}
	const two, one = `,"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}`, `,"series":{"count":1,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}`
	for _, c := range []struct{ was, now, want string }{
		{"", two, ""},
		{"", one, `series.count: Invalid value: "": should be at least 2`},
		{two, one, `series.count: Invalid value: "": should be at least 2`},
		{one, one, ""},
		{one, "", ""},
	} {
		var got string
		if all := layout.ValidateAll("", event(c.now), event(c.was)).ToAggregate(); all != nil {
			got = all.Error()
		}
		if got != c.want {
			t.Errorf("%s after %s: %v, want %s", c.now, c.was, got, c.want)
		}
	}
}

// What tables and selectors say of events of both kinds.
func TestCellsOfEvents(t *testing.T) {
	const first, last, seen = "2010-01-01T00:00:00Z", "2015-01-01T00:00:00Z", "2020-01-01T00:00:00.123456Z"
	ago := func(text string) string {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return dyn.Age(at)
	}
	none := dyn.Age(time.Time{})
	for _, c := range []struct {
		event string
		want  map[string]any
	}{
		{`{}`, map[string]any{"Count": int64(1), "FirstSeen": none, "LastSeen": none, "Message": "", "Object": "", "Reporter": "", "Source": ""}},
		{`{"count":3,"firstTimestamp":"` + first + `","lastTimestamp":"` + last + `","eventTime":"` + seen + `","message":" m\n","involvedObject":{"kind":"Pod","name":"p"},"source":{"component":"c","host":"h"},"reportingComponent":"d","reportingInstance":"i"}`,
			map[string]any{"Count": int64(3), "FirstSeen": ago(first), "LastSeen": ago(last), "Message": "m", "Object": "pod/p", "Reporter": "c", "Source": "c, h"}},
		{`{"count":0,"firstTimestamp":null,"eventTime":"` + seen + `","involvedObject":{"kind":"Node"},"source":{},"reportingComponent":"d","reportingInstance":"i"}`,
			map[string]any{"Count": int64(1), "FirstSeen": ago(seen), "LastSeen": ago(seen), "Object": "node", "Reporter": "d", "Source": "d, i"}},
		{`{"count":3,"firstTimestamp":"` + first + `","lastTimestamp":"` + last + `","series":{"count":7,"lastObservedTime":"` + seen + `"},"reportingComponent":"d"}`,
			map[string]any{"Count": int64(7), "FirstSeen": ago(first), "LastSeen": ago(seen), "Reporter": "d", "Source": "d"}},
		{`{"count":3,"firstTimestamp":"` + first + `","lastTimestamp":"` + last + `","series":{}}`, map[string]any{"Count": int64(0), "LastSeen": none}},
		{`{"firstTimestamp":"` + first + `"}`, map[string]any{"LastSeen": ago(first)}},
	} {
		obj := crdtest.Parse(t, []byte(c.event))
		for name, want := range c.want {
			if got := extend.Cell("event" + name)(obj); got != want {
				t.Errorf("%s: the %s is %v, want %v", c.event, name, got, want)
			}
		}
	}
}
