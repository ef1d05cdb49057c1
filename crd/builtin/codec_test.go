package builtin

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/crdtest"
	"github.com/wasmgate/wasmgate/crd/object"
)

// golden is an object as kube-apiserver 1.36 served it and as it stood in its
// etcd.
type golden struct {
	Served json.RawMessage `json:"served"`
	Stored []byte          `json:"stored"`
}

func goldens(t testing.TB) map[string]golden {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	out := map[string]golden{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var g golden
		if err := json.Unmarshal(data, &g); err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".json")] = g
	}
	return out
}

func definitions(t testing.TB) map[string]*crd.Definition {
	all, err := All(Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*crd.Definition{}
	for _, d := range all {
		out[d.Singular] = d
	}
	return out
}

func TestStoredBytes_MT07_PER02(t *testing.T) {
	defs := definitions(t)
	for name, g := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			d := defs[name]
			served := crdtest.Parse(t, g.Served)
			stored, err := d.Codec.Encode(served)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(stored, g.Stored) {
				t.Errorf("stored\n%q, kube-apiserver stored\n%q", stored, g.Stored)
			}
			decoded, err := d.Codec.Decode(g.Stored)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Versions[0].Shape.FromStorage(decoded); err != nil {
				t.Fatal(err)
			}
			delete(served["metadata"].(map[string]any), "resourceVersion")
			if got, want := encoded(t, decoded), encoded(t, served); got != want {
				t.Errorf("decoded\n%s, kube-apiserver serves\n%s", got, want)
			}
			fromJSON, err := d.Codec.Decode(g.Served)
			if err != nil {
				t.Fatal(err)
			}
			delete(fromJSON["metadata"].(map[string]any), "resourceVersion")
			if got, want := encoded(t, fromJSON), encoded(t, served); got != want {
				t.Errorf("decoded from JSON\n%s, want\n%s", got, want)
			}
		})
	}
}

func encoded(t *testing.T, tree map[string]any) string {
	t.Helper()
	data, err := object.Encode(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The reader of trees and the JSON of the Go types have to agree, or an object
// would look different after it was stored.
func TestTreeIsTheTypesJSON(t *testing.T) {
	defs := definitions(t)
	for name, d := range defs {
		if d.Versions[0].Typed == nil {
			continue
		}
		typed := d.Versions[0].Typed()
		if g, ok := goldens(t)[name]; ok {
			if err := json.Unmarshal(g.Served, typed); err != nil {
				t.Fatal(err)
			}
		}
		data, err := json.Marshal(typed)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := object.FromTyped(typed)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := encoded(t, tree), encoded(t, crdtest.Parse(t, data)); got != want {
			t.Errorf("%s: tree\n%s, JSON\n%s", name, got, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	d := definitions(t)["configmap"]
	secret := goldens(t)["secret"].Stored
	for name, stored := range map[string][]byte{
		"nothing":       nil,
		"only a prefix": []byte("k8s\x00"),
		"noise":         []byte("k8s\x00\xff\xff\xff\xff\xff\xff"),
		"another kind":  secret,
		"cut off":       goldens(t)["configmap"].Stored[:60],
		"not JSON":      []byte("{"),
		"wrong type":    []byte(`{"apiVersion":"v1","kind":"ConfigMap","data":5}`),
	} {
		if tree, err := d.Codec.Decode(stored); err == nil {
			t.Errorf("%s: decoded as %v", name, tree)
		}
	}
}

// What is stored says what it is, and is not taken for anything else.
func TestDecodeRefusesAnotherKind(t *testing.T) {
	d := definitions(t)["lease"]
	envelope := func(apiVersion, kind string) []byte {
		u := &runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}}
		raw, err := u.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte("k8s\x00"), raw...)
	}
	if _, err := d.Codec.Decode(envelope("coordination.k8s.io/v1", "Lease")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ apiVersion, kind, want string }{
		{"v1", "Lease", "decode Lease: it is a Lease of v1"},
		{"coordination.k8s.io/v1", "Tenancy", "decode Lease: it is a Tenancy of coordination.k8s.io/v1"},
		{"coordination.k8s.io/v9", "Lease", "decode Lease: it has the unknown version coordination.k8s.io/v9"},
		{"a/b/c", "Lease", "decode Lease: unexpected GroupVersion string: a/b/c"},
	} {
		if _, err := d.Codec.Decode(envelope(c.apiVersion, c.kind)); err == nil || err.Error() != c.want {
			t.Errorf("%s of %s: got %v, want %s", c.kind, c.apiVersion, err, c.want)
		}
	}
}

func TestEncodeRefusesWhatIsNoObjectOfTheKind(t *testing.T) {
	d := definitions(t)["configmap"]
	for _, metadata := range []string{`{"name":"a"}`, `{"name":"a","managedFields":[{"manager":"m"}]}`} {
		tree := crdtest.Parse(t, []byte(`{"metadata":`+metadata+`,"data":5}`))
		if data, err := d.Codec.Encode(tree); err == nil {
			t.Errorf("%s: encoded as %q", metadata, data)
		}
	}
}

func FuzzDecode(f *testing.F) {
	defs := definitions(f)
	for _, g := range goldens(f) {
		f.Add(g.Stored)
		f.Add([]byte(g.Served))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, d := range defs {
			tree, err := d.Codec.Decode(data)
			if err != nil {
				continue
			}
			if err := d.Versions[0].Shape.FromStorage(tree); err != nil {
				continue
			}
			if d.Versions[0].Typed == nil {
				continue
			}
			stored, err := d.Codec.Encode(tree)
			if err != nil {
				continue // times after the year 9999 can be stored but not written as text
			}
			back, err := d.Codec.Decode(stored)
			if err != nil {
				t.Fatalf("%s: does not decode what it encoded: %v", name, err)
			}
			if again, err := d.Codec.Encode(back); err != nil || !bytes.Equal(again, stored) {
				t.Errorf("%s: encodes differently the second time: %v", name, err)
			}
		}
	})
}

// managedFields pass through the Go types as they are, and through the rest
// untouched.
func TestManagedFieldsOfBuiltins_SSA05(t *testing.T) {
	d := definitions(t)["configmap"]
	const managed = `[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}},"manager":"m","operation":"Update","subresource":"status","time":"2020-01-01T00:00:00Z"},{"manager":"n"}]`
	text := func() map[string]any {
		tree, _, err := object.ParseObject([]byte(`{"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap","metadata":{"managedFields":` + managed + `,"name":"a"}}`))
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	tree := text()
	stored, err := d.Codec.Encode(tree)
	if err != nil || !object.Equal(tree, text()) {
		t.Fatalf("encoding left %v, %v", tree, err)
	}
	if back, err := d.Codec.Decode(stored); err != nil || !object.Equal(object.Managed(managed), back["metadata"].(map[string]any)["managedFields"]) {
		t.Errorf("decoded as %v, %v", back, err)
	}
	s := d.Versions[0].Shape
	for name, apply := range map[string]func(map[string]any) error{
		"client":     func(tree map[string]any) error { _, err := s.FromClient(tree, true); return err },
		"conversion": s.FromConversion,
		"merge":      s.FromMerge,
	} {
		tree := text()
		if err := apply(tree); err != nil || !object.Equal(object.Managed(managed), tree["metadata"].(map[string]any)["managedFields"]) {
			t.Errorf("from a %s: %v, %v", name, tree, err)
		}
	}
	for name, metadata := range map[string]map[string]any{
		"not JSON": {"managedFields": object.Managed(`[{`)}, "of a wrong type": {"managedFields": object.Managed(`[{"manager":1}]`)},
		"bad times": {"managedFields": object.Managed(managed), "creationTimestamp": "x"},
	} {
		tree := map[string]any{"metadata": metadata}
		if data, err := d.Codec.Encode(tree); err == nil {
			t.Errorf("%s: encoded as %q", name, data)
		}
		if _, ok := metadata["managedFields"].(object.Managed); !ok {
			t.Errorf("%s: they are gone", name)
		}
	}
}
