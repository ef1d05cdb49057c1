package api

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/api/body"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Any body of a write is read in whatever encoding it says it has, or refused
// as the client's mistake.
func FuzzObjectBody(f *testing.F) {
	w := newWorld(f)
	scale := autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
	raw, err := scale.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []struct{ media, body string }{
		{encoding.TypeProtobuf, string(wire.AppendEnvelope(nil, "autoscaling/v1", "Scale", raw))},
		{encoding.TypeProtobuf, string(wire.AppendEnvelope(nil, "v1", "ConfigMap", []byte("\x0a\x05\x0a\x03one")))},
		{encoding.TypeProtobuf, "k8s\x00\xff"}, {encoding.TypeProtobuf, "{}"}, {encoding.TypeJSON, configMap("one", "v")}, {encoding.TypeYAML, "metadata: {name: one}\n"},
		{encoding.TypeYAML, "a: &a [*a]"}, {encoding.TypeCBOR, inCBOR(f, configMap("one", "v"))}, {"text/plain", "x"}, {";", ""},
	} {
		f.Add(s.media, s.body)
	}
	s := w.Engine.Catalog().Snapshot()
	var targets []resource.Target
	for _, t := range []struct{ group, version, plural, subresource string }{
		{"", "v1", "configmaps", ""}, {"apps", "v1", "deployments", "scale"}, {"example.com", "v1", "widgets", ""},
	} {
		r, v := s.Find(t.group, t.version, t.plural)
		if r == nil {
			f.Fatalf("there are no %s", t.plural)
		}
		targets = append(targets, resource.Target{Resource: r, Version: v, Subresource: t.subresource})
	}
	f.Fuzz(func(t *testing.T, media, text string) {
		if len(text) > 64<<10 {
			return
		}
		for _, target := range targets {
			_, err := body.Body{ContentType: media, Data: []byte(text), CBOR: true}.Object(target, &resource.WriteOptions{})
			clientsMistake(t, err)
		}
		_, err := body.Body{Data: []byte(text)}.Configuration("", &resource.WriteOptions{})
		clientsMistake(t, err)
	})
}
