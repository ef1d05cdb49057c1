package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// serializer is what Kubernetes writes envelopes with.
var serializer = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "one", Namespace: "default", UID: "u", Generation: 3, Labels: map[string]string{"a": "b", "c": "d"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`)}},
		},
		Data: map[string]string{"k": strings.Repeat("v", 300)},
	}
}

func marshal(t testing.TB, m marshaler) []byte {
	t.Helper()
	b, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func message(t testing.TB, raw []byte, revision int64) Message {
	t.Helper()
	m, err := New(raw, revision)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Whatever a stored message has for a resourceVersion, and however long the new
// one is, the message is the one that Kubernetes would write.
func TestARevisionIsPutIn_MT06(t *testing.T) {
	for _, old := range []string{"", "7", "123456789"} {
		for _, rev := range []int64{1, 9, 10, 99, 100, 1<<62 + 5} {
			o := configMap()
			o.ResourceVersion = old
			m := message(t, marshal(t, o), rev)
			o.ResourceVersion = fmt.Sprint(rev)
			want := marshal(t, o)
			got := m.AppendTo([]byte("x"))
			if string(got) != "x"+string(want) || m.Size() != len(want) {
				t.Errorf("%q to %d: %d bytes for %d\n%q\n%q", old, rev, m.Size(), len(want), got, want)
			}
			partial := &metav1.PartialObjectMetadata{ObjectMeta: o.ObjectMeta}
			if got := m.Metadata().AppendTo(nil); string(got) != string(marshal(t, partial)) || m.Metadata().Size() != len(got) {
				t.Errorf("metadata of %q to %d: %q", old, rev, got)
			}
		}
	}
}

// Metadata that end before, with or after the place of the resourceVersion, and
// metadata so large that their length takes more bytes.
func TestARevisionIsPutInItsPlace_MT06(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing":          "",
		"name only":        "\x0a\x01a",
		"up to the field":  "\x0a\x01a\x2a\x01u",
		"the field only":   "\x32\x019",
		"field and after":  "\x32\x019\x38\x05",
		"after only":       "\x38\x05",
		"before and after": "\x0a\x01a\x38\x05\x5a\x00\x5a\x00",
		"long":             "\x0a\x7e" + strings.Repeat("n", 126),
		"about to be long": "\x0a\x7b" + strings.Repeat("n", 123),
	} {
		raw := append([]byte{0x0a, byte(len(raw))}, raw...)
		if len(raw) > 129 {
			raw = append([]byte{0x0a, 0x80, 0x01}, raw[2:]...)
		}
		raw = append(raw, "\x12\x02zz"...)
		out := message(t, raw, 42).AppendTo(nil)
		var want, got corev1.ConfigMap
		if err := want.Unmarshal(raw[:len(raw)-4]); err != nil {
			t.Fatal(err)
		}
		want.ResourceVersion = "42"
		if err := got.Unmarshal(bytes.TrimSuffix(out, []byte("\x12\x02zz"))); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q %v", name, out, err)
		}
		if m := message(t, raw, 42); m.Size() != len(out) {
			t.Errorf("%s: %d bytes for %d", name, m.Size(), len(out))
		}
	}
}

func TestWhatIsLaidOutOtherwiseIsTold(t *testing.T) {
	for name, raw := range map[string]string{
		"empty":                 "",
		"another field first":   "\x12\x00\x0a\x00",
		"metadata is a number":  "\x08\x01",
		"fields out of order":   "\x0a\x06\x1a\x01b\x0a\x01a",
		"two resourceVersions":  "\x0a\x06\x32\x011\x32\x012",
		"revision out of order": "\x0a\x05\x38\x05\x32\x011",
	} {
		if _, err := New([]byte(raw), 1); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, raw := range map[string]string{
		"cut in the length":   "\x0a\x80",
		"cut in the metadata": "\x0a\x05\x0a",
		"cut inside of them":  "\x0a\x02\x0a\x05",
		"no tag inside":       "\x0a\x01\x80",
	} {
		if _, err := New([]byte(raw), 1); err == nil || errors.Is(err, ErrIrregular) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every kind and every list of Kubernetes has its metadata first, and every
// list its items next.
func TestAllKindsAreLaidOutAlike_MT06(t *testing.T) {
	kinds, lists := 0, 0
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		value := reflect.New(typ).Interface().(runtime.Object)
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		if o, ok := value.(metav1.Object); ok {
			kinds++
			o.SetName("one")
			o.SetGeneration(2)
			m, err := New(marshal(t, value.(marshaler)), 5)
			if err != nil {
				t.Errorf("%s: %v", gvk, err)
				continue
			}
			back := reflect.New(typ).Interface().(runtime.Object)
			o.SetResourceVersion("5")
			if err := back.(interface{ Unmarshal([]byte) error }).Unmarshal(m.AppendTo(nil)); err != nil || !reflect.DeepEqual(back, value) {
				t.Errorf("%s: %v\n%v\n%v", gvk, err, back, value)
			}
			continue
		}
		if _, ok := value.(metav1.ListInterface); !ok || !meta.IsListType(value) || gvk.Kind == "List" || !strings.HasSuffix(gvk.Kind, "List") {
			continue
		}
		lists++
		l, err := NewList(gvk.GroupVersion().String(), gvk.Kind, metav1.ListMeta{ResourceVersion: "7"}, 4)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := serializer.Decode(append(append(l.Head, "\x12\x02\x0a\x00"...), l.Tail...), nil, nil)
		if err != nil {
			t.Errorf("%s: %v", gvk, err)
			continue
		}
		if n := meta.LenList(got); n != 1 || got.(metav1.ListInterface).GetResourceVersion() != "7" {
			t.Errorf("%s: %d items: %v", gvk, n, got)
		}
	}
	if kinds < 100 || lists < 100 {
		t.Errorf("only %d kinds and %d lists", kinds, lists)
	}
}

func TestAnEnvelopeIsKubernetesOwn_MT07(t *testing.T) {
	o := configMap()
	var want bytes.Buffer
	if err := serializer.Encode(o, &want); err != nil {
		t.Fatal(err)
	}
	if got := AppendEnvelope(nil, "v1", "ConfigMap", marshal(t, o)); string(got) != want.String() {
		t.Errorf("%q\nwant %q", got, want.String())
	}
	o.ResourceVersion = "12"
	want.Reset()
	if err := serializer.Encode(o, &want); err != nil {
		t.Fatal(err)
	}
	if got := message(t, marshal(t, o), 12).AppendEnvelope(nil, "v1", "ConfigMap"); string(got) != want.String() {
		t.Errorf("%q\nwant %q", got, want.String())
	}
	e, err := Open(want.Bytes())
	if err != nil || e.APIVersion != "v1" || e.Kind != "ConfigMap" || string(e.Raw) != string(marshal(t, o)) {
		t.Errorf("%+v %v", e, err)
	}
}

func TestWhatIsNoEnvelopeIsRefused_MT08(t *testing.T) {
	for data, want := range map[string]string{
		"":                                errNoData.Error(),
		"k8s\x00":                         errNoMessage.Error(),
		"k8s":                             errNoMagic.Error(),
		"k8s\x01\x12\x00":                 errNoMagic.Error(),
		`{"kind":"ConfigMap"}`:            errNoMagic.Error(),
		"k8s\x00\x12\x05a":                "unexpected EOF",
		"k8s\x00\x0a\x03\x0a\x05a":        "unexpected EOF",
		"k8s\x00\x1a\x04gzip":             `content encoding "gzip"`,
		"k8s\x00\x22\x10application/json": `content type "application/json"`,
	} {
		if e, err := Open([]byte(data)); err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(e, Envelope{}) {
			t.Errorf("%q: %+v %v", data, e, err)
		}
	}
	for _, data := range []string{Magic + "\x22\x23" + MediaType, Magic + "\x2a\x01x"} {
		if _, err := Open([]byte(data)); err != nil {
			t.Errorf("%q: %v", data, err)
		}
	}
}

func TestAListIsKubernetesOwn_MT06(t *testing.T) {
	left := int64(3)
	list := corev1.ConfigMapList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "77", Continue: "token", RemainingItemCount: &left},
	}
	var items []byte
	size := 0
	for i := range int64(3) {
		o := configMap()
		m := message(t, marshal(t, o), i+8)
		items = m.AppendItem(items)
		if size += m.ItemSize(); size != len(items) {
			t.Fatalf("%d bytes for %d", size, len(items))
		}
		o.ResourceVersion = fmt.Sprint(i + 8)
		list.Items = append(list.Items, *o)
	}
	l, err := NewList("v1", "ConfigMapList", list.ListMeta, size)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := serializer.Encode(&list, &want); err != nil {
		t.Fatal(err)
	}
	if got := string(l.Head) + string(items) + string(l.Tail); got != want.String() {
		t.Errorf("%q\nwant %q", got, want.String())
	}
}

func TestAFrameIsAnEvent_WATCH01(t *testing.T) {
	object := AppendEnvelope(nil, "v1", "ConfigMap", marshal(t, configMap()))
	frames := AppendFrame(AppendFrame(nil, "ADDED", object), "BOOKMARK", []byte("k8s\x00"))
	for _, want := range []metav1.WatchEvent{
		{Type: "ADDED", Object: runtime.RawExtension{Raw: object}},
		{Type: "BOOKMARK", Object: runtime.RawExtension{Raw: []byte("k8s\x00")}},
	} {
		n := binary.BigEndian.Uint32(frames)
		if got := frames[4 : 4+n]; string(got) != string(marshal(t, &want)) {
			t.Errorf("%q\nwant %q", got, marshal(t, &want))
		}
		frames = frames[4+n:]
	}
	if len(frames) != 0 {
		t.Errorf("%q is left", frames)
	}
}

func TestAMessageIsMadeOfJSON_MT06(t *testing.T) {
	got, err := FromJSON([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one","resourceVersion":"5"},"data":{"a":"b"}}`), &corev1.ConfigMap{})
	want := marshal(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one", ResourceVersion: "5"}, Data: map[string]string{"a": "b"}})
	if err != nil || string(got) != string(want) {
		t.Errorf("%q %v", got, err)
	}
	if _, err := FromJSON([]byte(`{"data":3}`), &corev1.ConfigMap{}); err == nil {
		t.Error("no error for a wrong type")
	}
	if _, err := FromJSON([]byte(`{}`), &metav1.Table{}); err == nil || !strings.Contains(err.Error(), "*v1.Table has no protobuf form") {
		t.Errorf("a table: %v", err)
	}
}

// Nothing that a store may hold ends the process, and what is taken for a
// message keeps all but its resourceVersion.
func FuzzMessage_MT06(f *testing.F) {
	f.Add(marshal(f, configMap()), int64(1))
	f.Add([]byte("\x0a\x03\x32\x017\x12\x00"), int64(1<<60))
	f.Add([]byte("\x0a\x06\x1a\x01b\x0a\x01a"), int64(0))
	f.Add([]byte("\x0a\x00"), int64(0))
	f.Fuzz(func(t *testing.T, raw []byte, revision int64) {
		if revision < 0 {
			return
		}
		m, err := New(raw, revision)
		if err != nil {
			return
		}
		out := m.AppendTo(nil)
		if len(out) != m.Size() || len(m.AppendItem(nil)) != m.ItemSize() {
			t.Fatalf("%d bytes for %d", len(out), m.Size())
		}
		again, err := New(out, revision)
		if err != nil || string(again.AppendTo(nil)) != string(out) {
			t.Fatalf("%q then %q %v", out, again.AppendTo(nil), err)
		}
		var was, is metav1.PartialObjectMetadata
		if was.Unmarshal(m.Metadata().raw) != nil {
			return
		}
		if err := is.Unmarshal(m.Metadata().AppendTo(nil)); err != nil {
			t.Fatal(err)
		}
		was.ResourceVersion = ""
		if revision > 0 { // what is not stored has none
			was.ResourceVersion = fmt.Sprint(revision)
		}
		if !reflect.DeepEqual(was, is) {
			t.Fatalf("%+v\n%+v", was, is)
		}
	})
}

func FuzzOpen_MT08(f *testing.F) {
	f.Add(AppendEnvelope(nil, "v1", "ConfigMap", []byte("\x0a\x00")))
	f.Add([]byte("k8s\x00\x1a\x04gzip"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Open(data)
		if err != nil {
			return
		}
		again, err := Open(AppendEnvelope(nil, e.APIVersion, e.Kind, e.Raw))
		if err != nil || again.APIVersion != e.APIVersion || again.Kind != e.Kind || !bytes.Equal(again.Raw, e.Raw) {
			t.Fatalf("%+v then %+v %v", e, again, err)
		}
	})
}

func TestMetadataIsDecodedAlone(t *testing.T) {
	c := configMap()
	c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u"}}
	meta, err := message(t, marshal(t, c), 77).ObjectMeta()
	if err != nil || meta.Name != c.Name || len(meta.OwnerReferences) != 1 || meta.OwnerReferences[0].UID != "u" || meta.ResourceVersion != "77" {
		t.Errorf("got %+v, %v", meta, err)
	}
	// What is laid out well may have the wrong fields all the same.
	if meta, err := message(t, []byte{objectMetadata<<3 | 2, 2, 1 << 3, 1}, 1).ObjectMeta(); err == nil {
		t.Errorf("got %+v", meta)
	}
}
