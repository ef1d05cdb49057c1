package builtin

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/translate"
)

func event(ttl time.Duration) *crd.Definition {
	d := define(kind[corev1.Event]{
		version: "v1", name: "Event", plural: "events", shortNames: []string{"ev"}, namespaced: true,
		rules: rules[corev1.Event]{
			validate:       validateEvent,
			validateUpdate: validateEventUpdate,
			createOnUpdate: true,
			unconditional:  true,
		},
		columns: eventColumns(),
		cells:   eventCells,
		fieldNames: []string{
			"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
			"reason", "reportingComponent", "source", "type",
		},
		fieldSet: eventFields,
	})
	d.OwnsNothing = true
	d.TTL = func(map[string]any) time.Duration { return ttl }
	serveNewEvents(d)
	return d
}

// newEvents is the version by which new clients have events.
const newEvents = "events.k8s.io/v1"

// serveNewEvents adds that version: the same objects, with fields of other names,
// and stricter rules for those who write them there.
func serveNewEvents(d *crd.Definition) {
	own, core := newLayout(translate.CoreEvent, translate.Event), d.Versions[0]
	strict := *core
	strict.Strategy = newStrategy(d.Namespaced, rules[corev1.Event]{
		validate: validateStrictEvent, validateUpdate: validateStrictEventUpdate,
		createOnUpdate: true, unconditional: true,
	})
	v := own.version(d, &strict, newEvents, true)
	v.SelectableFields, v.Fields = []string{"reason", "reportingController", "type"}, newEventFields
	for _, name := range referenceFields {
		v.SelectableFields = append(v.SelectableFields, "regarding."+name)
	}
	d.Versions = append(d.Versions, v)
	codec, _ := d.Codec.(*codec)
	layouts{newEvents: own}.of(d, codec)
}

// referenceFields are those of a reference to an object.
var referenceFields = []string{"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"}

func newEventFields(obj map[string]any) fields.Set {
	out := fields.Set{"reason": text(obj, "reason"), "reportingController": text(obj, "reportingController"), "type": text(obj, "type")}
	for _, name := range referenceFields {
		out["regarding."+name] = text(obj, "regarding", name)
	}
	return out
}

func eventFields(obj map[string]any) fields.Set {
	out := fields.Set{
		"reason":             text(obj, "reason"),
		"reportingComponent": text(obj, "reportingComponent"),
		"source":             text(obj, "source", "component"),
		"type":               text(obj, "type"),
	}
	if out["source"] == "" {
		out["source"] = out["reportingComponent"]
	}
	for _, name := range referenceFields {
		out["involvedObject."+name] = text(obj, "involvedObject", name)
	}
	return out
}

func eventColumns() []metav1.TableColumnDefinition {
	docs := corev1.Event{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		column("Last Seen", docs["lastTimestamp"]),
		column("Type", docs["type"]),
		column("Reason", docs["reason"]),
		column("Object", docs["involvedObject"]),
		wide(column("Subobject", corev1.ObjectReference{}.SwaggerDoc()["fieldPath"])),
		wide(column("Source", docs["source"])),
		column("Message", docs["message"]),
		wide(column("First Seen", docs["firstTimestamp"])),
		wide(column("Count", docs["count"])),
		wide(nameColumn),
	}
}

func eventCells(e *corev1.Event) []any {
	first := since(e.FirstTimestamp)
	if e.FirstTimestamp.IsZero() {
		first = ago(e.EventTime.Time)
	}
	last := since(e.LastTimestamp)
	if e.LastTimestamp.IsZero() {
		last = first
	}
	count := e.Count
	if e.Series != nil {
		last, count = ago(e.Series.LastObservedTime.Time), e.Series.Count
	} else if count == 0 {
		count = 1
	}
	object := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name != "" {
		object = fmt.Sprintf("%s/%s", object, e.InvolvedObject.Name)
	}
	return []any{
		last, e.Type, e.Reason, object, e.InvolvedObject.FieldPath, eventSource(e),
		strings.TrimSpace(e.Message), first, int64(count), e.Name,
	}
}

// eventSource prints who reported: the component and, when known, where it
// runs.
func eventSource(e *corev1.Event) string {
	component, instance := e.Source.Component, e.Source.Host
	if component == "" {
		component = e.ReportingController
	}
	if instance == "" {
		instance = e.ReportingInstance
	}
	if instance == "" {
		return component
	}
	return component + ", " + instance
}
