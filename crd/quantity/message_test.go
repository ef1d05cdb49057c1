package quantity

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

type messageType interface {
	runtime.Object
	Marshal() ([]byte, error)
}

// Wherever a message has a quantity it is looked at, and nowhere else.
func TestCheckMessage(t *testing.T) {
	// As long as the bad one, whose place it takes.
	const good, bad = "1234567890123", "1e-2000000000"
	for _, c := range []struct {
		object messageType
		text   string
		ok     bool
	}{
		{&corev1.Pod{}, `{metadata: {name: "1234567890123", labels: {a: "1234567890123"}}, spec: {containers: [{name: "1234567890123"}], overhead: {"1234567890123": "1"}}}`, true},
		{&corev1.Pod{}, `{spec: {containers: [{}, {resources: {limits: {a: "1", cpu: "1234567890123"}}}]}}`, false},
		{&corev1.Pod{}, `{spec: {overhead: {cpu: "1234567890123"}}}`, false},
		{&corev1.Pod{}, `{spec: {volumes: [{}, {emptyDir: {sizeLimit: "1234567890123"}}]}}`, false},
		{&corev1.Pod{}, `{spec: {containers: [{env: [{valueFrom: {resourceFieldRef: {divisor: "1234567890123"}}}]}]}}`, false},
		{&appsv1.Deployment{}, `{spec: {template: {spec: {initContainers: [{resources: {requests: {cpu: "1234567890123"}}}]}}}}`, false},
		{&autoscalingv2.HorizontalPodAutoscaler{}, `{spec: {behavior: {scaleUp: {tolerance: "1234567890123"}}}}`, false},
		{&resourcev1.ResourceSlice{}, `{spec: {devices: [{name: d, capacity: {c: {value: "1234567890123"}}}]}}`, false},
		{&corev1.ConfigMap{}, `{data: {a: "1234567890123"}}`, true},
	} {
		if err := yaml.UnmarshalStrict([]byte(c.text), c.object); err != nil {
			t.Fatal(err)
		}
		message, err := c.object.Marshal()
		if err != nil || !bytes.Contains(message, []byte(good)) {
			t.Fatalf("%s: %q, %v", c.text, message, err)
		}
		if err := CheckMessage(message, reflect.TypeOf(c.object)); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		fine := message
		message = bytes.ReplaceAll(message, []byte(good), []byte(bad))
		if err := CheckMessage(message, reflect.TypeOf(c.object)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.text, err)
		}
		if c.ok {
			continue
		}
		// What is there again does not take the place of what was there first.
		if err := CheckMessage(slices.Concat(message, fine), reflect.TypeOf(c.object)); err == nil {
			t.Errorf("%s: accepted twice", c.text)
		}
		if err := CheckMessage(message[:len(message)-1], reflect.TypeOf(c.object)); err == nil {
			t.Errorf("%s: accepted without its end", c.text)
		}
	}
}

// A tag that a reader might take for another field's is refused.
func TestMessagesOfOtherTags(t *testing.T) {
	for _, message := range []string{"\x82\x80\x80\x80\x80\x80\x01\x00", "\x00", "\x0b", "\x0b\x14", "\x0f"} {
		if err := CheckMessage([]byte(message), reflect.TypeFor[*corev1.Pod]()); err == nil {
			t.Errorf("%q is accepted", message)
		}
	}
}
