package encoding

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/wasmgate/wasmgate/crd/wire"
)

// What is kept of an object in JSON: the whole or its metadata, with managedFields or
// without.
func TestFormsInJSON(t *testing.T) {
	const whole = `{"kind":"K","metadata":{"managedFields":[{"a":"}"}],"name":"n\"","uid":"u"},"spec":{}}`
	of := func(form Form, version string, unmanaged bool) Encoding {
		return Encoding{Version: version, Form: form, Media: JSON, Unmanaged: unmanaged}
	}
	for _, c := range []struct {
		in         Encoding
		text, want string
	}{
		{of(Whole, "v1", false), whole, whole},
		{of(Whole, "v1", true), whole, `{"kind":"K","metadata":{"name":"n\"","uid":"u"},"spec":{}}`},
		{of(Metadata, "v1", false), whole, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"managedFields":[{"a":"}"}],"name":"n\"","uid":"u"}}`},
		{of(Metadata, "v1beta1", true), whole, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":{"name":"n\"","uid":"u"}}`},
		{of(Whole, "v1", true), `{"metadata":{"managedFields":[]}}`, `{"metadata":{}}`},
		{of(Whole, "v1", true), `{"metadata":{}}`, `{"metadata":{}}`},
	} {
		if got, err := (text{}).Keep([]byte(c.text), c.in, nil); string(got) != c.want || err != nil {
			t.Errorf("%+v of %s: %s, %v", c.in, c.text, got, err)
		}
	}
	if got, err := (text{}).Keep([]byte(`{"kind":"K"}`), of(Metadata, "v1", false), nil); err == nil {
		t.Errorf("there is no metadata, and it is %s", got)
	}
}

// Which encodings there are, and what they are made of.
func TestEncodings(t *testing.T) {
	if got := MetadataOnly(); got != (Encoding{Version: "v1", Form: Metadata, Media: JSON}) {
		t.Errorf("metadata is %+v", got)
	}
	for in, base := range map[Encoding]Encoding{
		At("v1"):                                         {Version: "v1", Media: JSON},
		{Version: "v1", Media: Protobuf}:                 {Version: "v1", Media: JSON},
		{Media: Protobuf, Unmanaged: true}:               {Media: JSON, Unmanaged: true},
		{Media: JSON, Unmanaged: true}:                   {Media: JSON},
		{Version: "v1", Form: Metadata, Media: Protobuf}: {Version: "v1", Form: Metadata, Media: JSON},
	} {
		if got := in.Base(); got != base {
			t.Errorf("%+v is made of %+v, want %+v", in, got, base)
		}
		if want := in.Media == Protobuf && !in.Unmanaged; in.Stored() != want {
			t.Errorf("%+v: stored is %t", in, in.Stored())
		}
	}
	for m, names := range map[Media][2]string{
		JSON: {"application/json", "application/json"}, Indented: {"application/json", "application/json"}, YAML: {"application/yaml", ""},
		Protobuf: {"application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;stream=watch"}, CBOR: {"application/cbor", "application/cbor-seq"},
	} {
		if m.Name() != names[0] || m.Stream() != names[1] {
			t.Errorf("%q, and of a watch %q, want %q", m.Name(), m.Stream(), names)
		}
	}
}

// An object in CBOR is read with its mark and without.
func TestObjectsFromCBOR(t *testing.T) {
	const object = `{"kind":"K","spec":{"n":1}}`
	data, err := (binary{}).Document([]byte(object), nil)
	if err != nil || !bytes.HasPrefix(data, []byte(cborMark)) {
		t.Fatalf("%x, %v", data, err)
	}
	for _, d := range [][]byte{data, data[len(cborMark):]} {
		if got, err := FromCBOR(d); string(got) != object || err != nil {
			t.Errorf("%x: %s, %v", d, got, err)
		}
	}
	for name, d := range map[string]string{"null": "\xf6", "undefined": "\xf7", "a number": "\x01", "half": "\xa1", "nothing": ""} {
		if got, err := FromCBOR([]byte(d)); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Tables have rows where lists have items.
func TestTablesInEachMediaType(t *testing.T) {
	const table = `{"kind":"Table","metadata":{},"columnDefinitions":[],"rows":[]}` + "\n"
	for _, m := range []Media{JSON, Indented, CBOR} {
		for count := range 3 {
			var items []byte
			for i := range count {
				if i > 0 {
					items = append(items, m.Separator()...)
				}
				var err error
				if items, err = m.Codec().AppendItem(items, Text(`{"cells":[]}`)); err != nil {
					t.Fatal(err)
				}
			}
			head, tail, err := m.Codec().Around(&List{Table: []byte(table)}, count, len(items))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Kind string
				Rows []struct{ Cells []any }
			}
			data, read := append(append(bytes.Clone(head), items...), tail...), json.Unmarshal
			if m == CBOR {
				read = func(data []byte, into any) error {
					var tree any
					if err := direct.Unmarshal(data, &tree); err != nil {
						return err
					}
					text, err := json.Marshal(tree)
					if err != nil {
						return err
					}
					return json.Unmarshal(text, into)
				}
			}
			if err := read(data, &got); err != nil || got.Kind != "Table" || len(got.Rows) != count {
				t.Errorf("%s, %d rows: %q, %v", m.Name(), count, data, err)
			}
		}
	}
}

// A list that may say so says null in place of no items.
func TestListsOfNull(t *testing.T) {
	for _, m := range []Media{JSON, Indented, YAML} {
		for count, want := range []bool{true, false} {
			head, tail, err := m.Codec().Around(&List{APIVersion: "v1", Kind: "L", Null: true}, count, 0)
			if got := strings.Contains(string(head)+string(tail), "null"); got != want || err != nil {
				t.Errorf("%s with %d items: %s...%s, %v", m.Name(), count, head, tail, err)
			}
		}
	}
}

// What a reply in protobuf holds besides the objects of a kind has the Go type of its own.
func TestDocumentsInProtobuf(t *testing.T) {
	for text, want := range map[string]interface{ Unmarshal([]byte) error }{
		`{"kind":"Status","apiVersion":"v1","message":"m"}`:                                        &metav1.Status{Message: "m"},
		`{"kind":"Scale","apiVersion":"autoscaling/v1","spec":{"replicas":3}}`:                     &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}},
		`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"n"}}`:   &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		`{"kind":"Status","apiVersion":"example.com/v1","metadata":{"name":"n"},"data":{"k":"v"}}`: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Data: map[string]string{"k": "v"}},
		`{"kind":"Scale","apiVersion":"example.com/v1","data":{"k":"v"}}`:                          &corev1.ConfigMap{Data: map[string]string{"k": "v"}},
		`{"kind":"PartialObjectMetadata","apiVersion":"example.com/v1","data":{"k":"v"}}`:          &corev1.ConfigMap{Data: map[string]string{"k": "v"}},
	} {
		data, err := (message{}).Document([]byte(text), configMaps)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		e, err := wire.Open(data)
		if err != nil || !strings.Contains(text, `"kind":"`+e.Kind+`","apiVersion":"`+e.APIVersion+`"`) {
			t.Errorf("%s: it says %+v, %v", text, e, err)
		}
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface().(interface{ Unmarshal([]byte) error })
		if err := got.Unmarshal(e.Raw); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if _, err := (message{}).Document([]byte(`{"kind":"Status","apiVersion":"v1","message":7}`), nil); err == nil {
		t.Error("a Status that is none is encoded")
	}
}

// Of metadata messages are metadata, whatever the kind.
func TestMetadataInProtobuf(t *testing.T) {
	raw, err := (message{}).Keep([]byte(`{"kind":"K","metadata":{"name":"n"},"spec":{}}`), Encoding{Form: Metadata, Media: Protobuf}, nil)
	got := &metav1.PartialObjectMetadata{}
	if err := got.Unmarshal(raw); err != nil || got.Name != "n" {
		t.Errorf("%+v, %v", got, err)
	}
	if err != nil {
		t.Error(err)
	}
}

// What cannot be read cannot be encoded, and that is said.
func TestWhatIsNoJSON(t *testing.T) {
	scratch, kind := []byte(nil), schema.GroupVersionKind{Version: "v1", Kind: "K"}
	for _, m := range []Media{Indented, YAML, CBOR} {
		if got, err := m.Codec().Document([]byte(`{"a":[}`), nil); err == nil {
			t.Errorf("%s: a document %q", m.Name(), got)
		}
		if got, err := m.Codec().Event(&scratch, "ADDED", Text(`{"a":[}`), kind); err == nil {
			t.Errorf("%s: an event %q", m.Name(), got.Body)
		}
		for count := range 2 {
			if head, _, err := m.Codec().Around(&List{Table: []byte(`{"rows":[}`)}, count, 0); err == nil {
				t.Errorf("%s: a table of %d rows begins with %q", m.Name(), count, head)
			}
		}
	}
	if head, _, err := (indented{}).Around(&List{Table: []byte(`{"none":[]}` + "\n")}, 1, 0); err == nil || !strings.Contains(err.Error(), "has no place for items") {
		t.Errorf("a table without rows begins with %q, %v", head, err)
	}
	if _, err := (message{}).Keep([]byte(`{"metadata":7}`), At("v1"), configMaps); err == nil {
		t.Error("what is no ConfigMap is kept as one")
	}
}
