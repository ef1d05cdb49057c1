package harness

import (
	"encoding/json"
	"testing"
)

func TestObjectPaths(t *testing.T) {
	var o Object
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"a","resourceVersion":"7","annotations":{"k8s.io/x":"y"}},"items":[{"metadata":{"name":"b"},"n":3}]}`), &o); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"metadata.name": "a", "metadata.annotations.k8s.io/x": "y", "items.0.metadata.name": "b",
		"items.0.n": "3", "items.1.n": "", "items.x": "", "nothing.at.all": "", "items.0": `{"metadata":{"name":"b"},"n":3}`,
	} {
		if got := o.Str(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if o.RV() != "7" || o.Names() != "b" {
		t.Errorf("revision %q, names %q", o.RV(), o.Names())
	}
	if got := (Object{}).Set("a.b.c", 1).Str("a"); got != `{"b":{"c":1}}` {
		t.Errorf("set: %s", got)
	}
}

func TestWebhookConverts(t *testing.T) {
	review := Object{}
	if err := json.Unmarshal([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":"g/v1","objects":[
		{"apiVersion":"g/v1beta1","hostPort":"a:1","spec":{"hostPort":"b:2"}}]}}`), &review); err != nil {
		t.Fatal(err)
	}
	reply := answer(review)
	if got := reply.Str("response.convertedObjects"); got != `[{"apiVersion":"g/v1","host":"a","port":"1","spec":{"host":"b","port":"2"}}]` {
		t.Errorf("to v1: %s", got)
	}
	if review.Str("request.objects.0.hostPort") != "a:1" {
		t.Error("the request was changed")
	}
	back := answer(Object{"request": map[string]any{"desiredAPIVersion": "g/v1beta1", "objects": reply.At("response.convertedObjects")}})
	if got := back.Str("response.convertedObjects"); got != `[{"apiVersion":"g/v1beta1","hostPort":"a:1","spec":{"hostPort":"b:2"}}]` {
		t.Errorf("and back: %s", got)
	}
}
