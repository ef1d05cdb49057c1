package extend

import (
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/object"
)

// eventReporter is the component that selectors know an event's source by.
func eventReporter(obj map[string]any) any {
	if component := object.TextAt(obj, "source", "component"); component != "" {
		return component
	}
	return object.TextAt(obj, "reportingComponent")
}

func eventFirstSeen(obj map[string]any) any { return firstAge(obj, "firstTimestamp", "eventTime") }

// eventLastSeen prints when the last of a series was, or of what else the event
// tells a time of.
func eventLastSeen(obj map[string]any) any {
	if series := object.Child(obj, "series"); series != nil {
		return firstAge(series, "lastObservedTime")
	}
	return firstAge(obj, "lastTimestamp", "firstTimestamp", "eventTime")
}

// firstAge prints how long ago the first of some fields was that has a time.
func firstAge(obj map[string]any, names ...string) string {
	for _, name := range names {
		if t, err := time.Parse(time.RFC3339Nano, object.TextAt(obj, name)); err == nil {
			return dyn.Age(t)
		}
	}
	return dyn.Age(time.Time{})
}

func eventCount(obj map[string]any) any {
	if series := object.Child(obj, "series"); series != nil {
		n, _ := series["count"].(int64)
		return n
	}
	if n, _ := obj["count"].(int64); n != 0 {
		return n
	}
	return int64(1)
}

func eventObject(obj map[string]any) any {
	kind := strings.ToLower(object.TextAt(obj, "involvedObject", "kind"))
	if name := object.TextAt(obj, "involvedObject", "name"); name != "" {
		return kind + "/" + name
	}
	return kind
}

func eventMessage(obj map[string]any) any { return strings.TrimSpace(object.TextAt(obj, "message")) }

// eventSource prints who reported: the component and, when known, where it
// runs.
func eventSource(obj map[string]any) any {
	component, instance := object.TextAt(obj, "source", "component"), object.TextAt(obj, "source", "host")
	if component == "" {
		component = object.TextAt(obj, "reportingComponent")
	}
	if instance == "" {
		instance = object.TextAt(obj, "reportingInstance")
	}
	if instance == "" {
		return component
	}
	return component + ", " + instance
}
