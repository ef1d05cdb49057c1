package builtin

import (
	"testing"

	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// The counts are kube-apiserver's.
func TestWhatCountsAsAGeneration(t *testing.T) {
	const spec = `"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}`
	for _, c := range []struct {
		kind, through, before, after string
		want                         int64
	}{
		{"deployment", "", ``, `,"annotations":{"a":"b"}`, 4},
		{"deployment", "", `,"annotations":{"a":"b"}`, `,"annotations":{"a":"c"}`, 4},
		{"deployment", "", `,"annotations":{"a":"b"}`, ``, 4},
		{"deployment", "", `,"annotations":{}`, ``, 3},
		{"deployment", "", ``, `,"labels":{"a":"b"}`, 3},
		{"deployment", "status", ``, `,"annotations":{"a":"b"}`, 3},
		{"replicaset", "", ``, `,"annotations":{"a":"b"}`, 3},
	} {
		d := definitions(t)[c.kind]
		const object = `{"metadata":{"name":"d","namespace":"bi-ns","resourceVersion":"7","uid":"u","generation":3`
		old, next := crdtest.Shaped(t, d, object+c.before+`},`+spec+`}`), crdtest.Shaped(t, d, object+c.after+`},`+spec+`}`)
		update := d.Versions[0].Strategy
		if c.through != "" {
			update = d.Versions[0].Subresources[c.through].Update
		}
		if err := rest.BeforeUpdate(crdtest.Registry(d, update), crdtest.WriteContext(d), next, old); err != nil {
			t.Errorf("%v: %v", c, err)
		}
		if got := next.GetGeneration(); got != c.want {
			t.Errorf("%s %s from {%s} to {%s}: generation %d, want %d", c.kind, c.through, c.before, c.after, got, c.want)
		}
	}
}

// A new CSIDriver has no generation; its changes are counted from there.
func TestGenerationsThatBeginLate(t *testing.T) {
	d := definitions(t)["csidriver"]
	obj := crdtest.Shaped(t, d, `{"metadata":{"name":"d"},"spec":{}}`)
	d.Versions[0].Strategy.Prepare(t.Context(), obj, nil)
	if n := obj.GetGeneration(); n != 0 {
		t.Errorf("a new one has generation %d", n)
	}
	next := crdtest.Shaped(t, d, `{"metadata":{"name":"d"},"spec":{"podInfoOnMount":true}}`)
	d.Versions[0].Strategy.Prepare(t.Context(), next, obj)
	if n := next.GetGeneration(); n != 1 {
		t.Errorf("after a change it has generation %d", n)
	}
}
