package translate

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/yaml"
)

func TestEventsKeepEverything_VER09(t *testing.T) {
	in := &eventsv1.Event{}
	err := yaml.UnmarshalStrict([]byte(`
metadata: {name: a, namespace: n, labels: {a: b}}
eventTime: "2026-01-01T00:00:00.123456Z"
series: {count: 2, lastObservedTime: "2026-01-01T00:00:00.123456Z"}
reportingController: example.com/c
reportingInstance: i
action: Act
reason: Because
regarding: {kind: Pod, namespace: n, name: p, uid: u, apiVersion: v1, resourceVersion: "1", fieldPath: f}
related: {kind: Node, name: o}
note: text
type: Normal
deprecatedSource: {component: c, host: h}
deprecatedFirstTimestamp: "2026-01-01T00:00:00Z"
deprecatedLastTimestamp: "2026-01-01T00:00:01Z"
deprecatedCount: 3
`), in)
	if err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[eventsv1.Event]().NumField() {
		if f := reflect.TypeFor[eventsv1.Event]().Field(i); f.Name != "TypeMeta" && reflect.ValueOf(in).Elem().Field(i).IsZero() {
			t.Errorf("the test says nothing of %s", f.Name)
		}
	}
	core, err := CoreEvent(in)
	if err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[corev1.Event]().NumField() {
		if f := reflect.TypeFor[corev1.Event]().Field(i); f.Name != "TypeMeta" && reflect.ValueOf(core).Elem().Field(i).IsZero() {
			t.Errorf("%s is lost", f.Name)
		}
	}
	out, err := Event(core)
	if err != nil || !reflect.DeepEqual(out, in) {
		t.Errorf("got %+v, %v", out, err)
	}
}
