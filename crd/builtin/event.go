package builtin

import (
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
)

// eventReporter is the component that selectors know an event's source by.
func eventReporter(obj map[string]any) any {
	if component := text(obj, "source", "component"); component != "" {
		return component
	}
	return text(obj, "reportingComponent")
}

func eventFirstSeen(obj map[string]any) any { return firstAge(obj, "firstTimestamp", "eventTime") }

// eventLastSeen prints when the last of a series was, or of what else the event
// tells a time of.
func eventLastSeen(obj map[string]any) any {
	if series := child(obj, "series"); series != nil {
		return firstAge(series, "lastObservedTime")
	}
	return firstAge(obj, "lastTimestamp", "firstTimestamp", "eventTime")
}

// firstAge prints how long ago the first of some fields was that has a time.
func firstAge(obj map[string]any, names ...string) string {
	for _, name := range names {
		if t, err := time.Parse(time.RFC3339Nano, text(obj, name)); err == nil {
			return dyn.Age(t)
		}
	}
	return dyn.Age(time.Time{})
}

func eventCount(obj map[string]any) any {
	if series := child(obj, "series"); series != nil {
		n, _ := series["count"].(int64)
		return n
	}
	if n, _ := obj["count"].(int64); n != 0 {
		return n
	}
	return int64(1)
}

func eventObject(obj map[string]any) any {
	kind := lower(text(obj, "involvedObject", "kind"))
	if name := text(obj, "involvedObject", "name"); name != "" {
		return kind + "/" + name
	}
	return kind
}

func eventMessage(obj map[string]any) any { return strings.TrimSpace(text(obj, "message")) }

// eventSource prints who reported: the component and, when known, where it
// runs.
func eventSource(obj map[string]any) any {
	component, instance := text(obj, "source", "component"), text(obj, "source", "host")
	if component == "" {
		component = text(obj, "reportingComponent")
	}
	if instance == "" {
		instance = text(obj, "reportingInstance")
	}
	if instance == "" {
		return component
	}
	return component + ", " + instance
}
