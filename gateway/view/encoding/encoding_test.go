package encoding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/wire"
)

// all are the media types, with how their libraries read a list of ConfigMaps.
var all = map[Media]func([]byte) (*corev1.ConfigMapList, error){
	JSON: readJSON, Indented: readJSON,
	YAML: func(data []byte) (*corev1.ConfigMapList, error) {
		text, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, err
		}
		return readJSON(text)
	},
	CBOR: func(data []byte) (*corev1.ConfigMapList, error) {
		var tree any
		if err := direct.Unmarshal(data, &tree); err != nil {
			return nil, err
		}
		text, err := json.Marshal(tree)
		if err != nil {
			return nil, err
		}
		return readJSON(text)
	},
	Protobuf: func(data []byte) (*corev1.ConfigMapList, error) {
		e, err := wire.Open(data)
		if err != nil {
			return nil, err
		}
		l := &corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: e.APIVersion, Kind: e.Kind}}
		return l, l.Unmarshal(e.Raw)
	},
}

func readJSON(data []byte) (*corev1.ConfigMapList, error) {
	l := &corev1.ConfigMapList{}
	return l, json.Unmarshal(data, l)
}

var configMaps = &crd.Version{Name: "v1", Typed: func() runtime.Object { return &corev1.ConfigMap{} }}

// kept is a ConfigMap in the media type that is kept to be sent as m.
func kept(t *testing.T, m Media, name string, revision int64) Object {
	t.Helper()
	keeper := m.Kept().Keeper()
	data, err := keeper.Keep([]byte(`{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"name":"`+name+`","resourceVersion":"1"}}`), At("v1"), configMaps)
	if err != nil {
		t.Fatal(err)
	}
	o, err := keeper.Object(data, revision)
	if err != nil || o.Size() != len(o.Bytes()) || !bytes.Equal(o.AppendTo([]byte("x"))[1:], o.Bytes()) {
		t.Fatalf("%s: %d bytes are %q, %v", m.Name(), o.Size(), o.Bytes(), err)
	}
	return o
}

// A list in each media type is one that its library reads, of any length, and what is
// kept is as long as was said.
func TestListsInEachMediaType_MT05_MT11(t *testing.T) {
	if len(all) != len(media)-1 {
		t.Errorf("%d of %d media types are tested", len(all), len(media)-1)
	}
	for m, read := range all {
		for _, count := range []int{0, 1, 2, 30} {
			var items []byte
			for i := range count {
				o := kept(t, m, string(rune('a'+i)), int64(i+10))
				if i > 0 {
					items = append(items, m.Separator()...)
				}
				before := len(items)
				var err error
				if items, err = m.Codec().AppendItem(items, o); err != nil {
					t.Fatal(err)
				}
				if m.Keeper() != nil && m.Keeper().ItemSize(o) != len(items)-before {
					t.Errorf("%s: an item of %d has %d bytes", m.Name(), m.Keeper().ItemSize(o), len(items)-before)
				}
			}
			l := &List{APIVersion: "v1", Kind: "ConfigMapList", ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "c"}}
			head, tail, err := m.Codec().Around(l, count, len(items))
			if err != nil {
				t.Fatal(err)
			}
			got, err := read(append(append(bytes.Clone(head), items...), tail...))
			if err != nil || got.Kind != "ConfigMapList" || got.ResourceVersion != "7" || got.Continue != "c" || len(got.Items) != count {
				t.Fatalf("%s, %d items: %+v, %v", m.Name(), count, got, err)
			}
			for i, o := range got.Items {
				if o.Name != string(rune('a'+i)) || o.ResourceVersion != string(rune('1'+i/10))+string(rune('0'+i%10)) || o.Data["k"] != "v" {
					t.Errorf("%s: item %d is %+v", m.Name(), i, o)
				}
			}
		}
	}
}

// One object is the same as a reply and as a document, in each media type, and an event
// of it is the same as one of the document.
func TestSingleObjects(t *testing.T) {
	for m := range all {
		o := kept(t, m, "one", 7)
		kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
		single, err := m.Codec().Single(o, kind)
		if err != nil {
			t.Fatal(err)
		}
		document, err := m.Codec().Document([]byte(`{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"name":"one","resourceVersion":"7"}}`), configMaps)
		if err != nil || !bytes.Equal(single, document) {
			t.Errorf("%s: %q, and as a document %q, %v", m.Name(), single, document, err)
		}
		if m.Stream() == "" {
			continue
		}
		scratch := make([]byte, 3, 1<<10)
		of := func(o Object) []byte {
			f, err := m.Codec().Event(&scratch, "ADDED", o, kind)
			event := slices.Concat(f.Head, f.Body, []byte(f.Tail))
			if err != nil || f.Size() != len(event) || !bytes.Contains(event, []byte("ADDED")) {
				t.Errorf("%s: the event %q, %v", m.Name(), event, err)
			}
			return event
		}
		event := of(Encoded{document})
		if !bytes.Contains(event, bytes.TrimSuffix(document, []byte("\n"))) || !bytes.Equal(event, of(o)) {
			t.Errorf("%s: the event %q, and of the object %q", m.Name(), event, of(o))
		}
		f, _ := m.Codec().Event(&scratch, "ADDED", o, kind)
		again, _ := m.Codec().Event(&scratch, "DELETED", o, kind)
		if shared := &f.Body[0] == &again.Body[0]; shared != (m.Keeper() != nil) {
			t.Errorf("%s: the object is shared: %t", m.Name(), shared)
		}
	}
}

// What is not stored has no revision, in whichever way it is sent.
func TestObjectsWithoutARevision(t *testing.T) {
	const report = `{"metadata":{"name":"etcd-0"}}`
	o, err := text{}.Object([]byte(report), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(o.AppendTo(nil)); got != report {
		t.Errorf("%s", got)
	}
}

// A list says what is known of it, and may say any part of that alone: reports have no
// revision.
func TestListsThatSayLittle(t *testing.T) {
	three := int64(3)
	for _, meta := range []metav1.ListMeta{
		{}, {Continue: "c"}, {RemainingItemCount: &three}, {ResourceVersion: "7"}, {ShardInfo: &metav1.ShardInfo{Selector: "s"}},
		{RemainingItemCount: &three, ShardInfo: &metav1.ShardInfo{Selector: "s"}},
		{Continue: "c", RemainingItemCount: &three, ResourceVersion: "7", ShardInfo: &metav1.ShardInfo{Selector: "s"}},
	} {
		for m, read := range all {
			head, tail, err := m.Codec().Around(&List{APIVersion: "v1", Kind: "ConfigMapList", ListMeta: meta}, 0, 0)
			if err != nil {
				t.Fatalf("%s, %+v: %v", m.Name(), meta, err)
			}
			got, err := read(append(bytes.Clone(head), tail...))
			if err != nil || !reflect.DeepEqual(got.ListMeta, meta) {
				t.Errorf("%s: %+v for %+v, %v", m.Name(), got.ListMeta, meta, err)
			}
		}
	}
}

// Arrays begin with how many items they have, in as few bytes as that can be said.
func TestHowArraysBegin(t *testing.T) {
	for n, want := range map[int]string{0: "80", 23: "97", 24: "9818", 255: "98ff", 256: "990100", 65535: "99ffff", 65536: "9a00010000"} {
		if got := fmt.Sprintf("%x", cborArray(n)); got != want {
			t.Errorf("%d items begin with %s, want %s", n, got, want)
		}
	}
}

// What is deep would take as many times its size as it is deep, once it is indented, and
// is left as it is; what people write is indented.
func TestDeepTextsAreNotIndented(t *testing.T) {
	const n = 5000
	deep := []byte(strings.Repeat(`{"a":`, n) + `"}{\\\""` + strings.Repeat("}", n))
	long := []byte(`{"spec":{"list":[` + strings.Repeat(`{"name":"}}}}}}}}}","items":[{"a":[1,2]}]},`, 20000) + `{}]}}`)
	for name, c := range map[string]Codec{"indented": indented{}, "yaml": yamlText{}} {
		got, err := c.Document(deep, nil)
		if err != nil || len(got) > len(deep)+1 {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(deep), err)
		}
		if got, err := c.Document(long, nil); err != nil || bytes.Count(got, []byte("\n")) < 20000 {
			t.Errorf("%s: a long text is not indented: %v", name, err)
		}
	}
	for want, c := range map[string]Codec{"- " + string(deep) + "\n": yamlText{}, "\n    " + string(deep): indented{}} {
		if item, err := c.AppendItem(nil, Text(string(deep)+"\n")); err != nil || string(item) != want {
			t.Errorf("an item has %d bytes, %v, want %d", len(item), err, len(want))
		}
	}
}
