package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What decoders allocate is counted from above, and text is no message each few
// bytes.
func TestMessagesAreCounted(t *testing.T) {
	var pod corev1.Pod
	for range 100 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "one", Env: make([]corev1.EnvVar, 10)})
	}
	data, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if c := Count(data); c.Deep || c.Endless || c.Messages < 1100 || c.Messages > 5000 || c.Fields < 2000 || c.Fields > 20_000 {
		t.Errorf("%+v of 100 containers with 10 variables each", c)
	}
	for mistake, data := range map[string]string{"no end": "\xff", "a field without a number": "\x02\x00", "a field with a negative number": "\xfa\xff\xff\xff\x7f\x00"} {
		if c := Count(append([]byte(Magic), "\x12\x00\x12\x00"+data+"\x12\x00\x12\x00"...)); c.Messages != 2 {
			t.Errorf("%+v before %s, want 2 messages", c, mistake)
		}
	}
}

// Texts and random bytes are hardly any messages.
func TestWhatIsNoMessageWeighsLittle(t *testing.T) {
	random, state := make([]byte, 1<<20), uint32(1)
	for i := range random {
		state = state*1664525 + 1013904223
		random[i] = byte(state >> 24)
	}
	pieces := map[string]string{}
	for i := range 10_000 {
		pieces[fmt.Sprint("z", i)] = "z: {a: b}\n\n\n\"zz\"\n"
	}
	for name, object := range map[string]interface{ Marshal() ([]byte, error) }{
		"prose":   &corev1.ConfigMap{Data: map[string]string{"text": strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 20_000)}},
		"lines":   &corev1.ConfigMap{Data: map[string]string{"text": strings.Repeat("\n", 1<<20)}},
		"numbers": &corev1.ConfigMap{Data: map[string]string{"text": strings.Repeat("1,22,", 200_000)}},
		"pieces":  &corev1.ConfigMap{Data: pieces},
		"random":  &corev1.Secret{Data: map[string][]byte{"random": random, "zz": random[:1<<10]}},
	} {
		data, err := object.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if c := Count(data); c.Deep || c.Endless || c.Messages > len(data)/5 || c.Fields > len(data)/2 || c.Beyond > 4*len(data) {
			t.Errorf("%s: %+v in %d bytes", name, c, len(data))
		}
	}
}

// What is odd and decoders of Go types read on after does not end the count.
func TestDecodersReadOnAndSoDoesTheCount(t *testing.T) {
	for name, odd := range map[string]string{
		"nothing":                "",
		"a group":                "\xfb\x01\xfc\x01",
		"a group of groups":      "\xfb\x01\xf3\x01\x0a\x01x\x08\x01\x0d1234\x0912345678\xf4\x01\xfc\x01",
		"another group's end":    "\xfb\x01\x04",
		"a number beyond fields": "\xf8\x81\x80\x80\x80\x80\x80\x10\x01",
		"a tag of 66 bits":       "\xf8\x81\x80\x80\x80\x80\x80\x80\x80\x02\x01",
		"a value of 70 bits":     "\xf8\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
	} {
		data := []byte(odd + strings.Repeat("\x6a\x00", 1000))
		var m metav1.ObjectMeta
		if err := m.Unmarshal(data); err != nil || len(m.OwnerReferences) != 1000 {
			t.Fatalf("%s: %d owners, %v", name, len(m.OwnerReferences), err)
		}
		if c := Count(data); c.Messages < 1000 {
			t.Errorf("%s: %+v where decoders read 1000 messages", name, c)
		}
	}
}

// Decoders let keys of maps reach beyond their entries: few bytes become many.
func TestWhatReachesBeyondItsEntryIsCounted(t *testing.T) {
	const labels, properties = 11, 29
	data := make([]byte, 0, 4000)
	for len(data) < 4000 {
		entry := append([]byte{0x0a}, varint(len(data))...)
		data = append(protowire.AppendBytes(protowire.AppendTag(nil, labels, protowire.BytesType), entry), data...)
	}
	var m metav1.ObjectMeta
	if err := m.Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	took := 0
	for key := range m.Labels {
		took += len(key)
	}
	if c := Count(data); took < 100*len(data) || !c.Endless && c.Beyond < took {
		t.Errorf("%+v of %d bytes that become %d", c, len(data), took)
	}
	data = data[:0]
	for range 10 {
		entry := append([]byte{0x12}, varint(len(data))...)
		data = append(protowire.AppendBytes(protowire.AppendTag(nil, properties, protowire.BytesType), entry), data...)
	}
	var schema apiextensionsv1.JSONSchemaProps
	if err := schema.Unmarshal(data); err != nil { // this takes twice as long for each one more
		t.Fatal(err)
	}
	for len(data) < 500 {
		entry := append([]byte{0x12}, varint(len(data))...)
		data = append(protowire.AppendBytes(protowire.AppendTag(nil, properties, protowire.BytesType), entry), data...)
	}
	if c := Count(data); !c.Endless {
		t.Errorf("%+v of what is never decoded to its end", c)
	}
}

// A definition may have as many levels as one that embeds a template of pods, and more.
func TestDeepSchemasAreCounted(t *testing.T) {
	schema := apiextensionsv1.JSONSchemaProps{Description: strings.Repeat("A field of a pod. ", 100)}
	for range 12 { // three messages each
		inner := schema
		schema = apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"field": {Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &inner}}}}
	}
	data, err := schema.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if c := Count(data); c.Deep || c.Endless || c.Messages < 48 {
		t.Errorf("%+v", c)
	}
}

// Messages within messages to the last byte are not looked at for ever.
func TestDeepMessagesAreNotCountedForEver(t *testing.T) {
	data := []byte{}
	for len(data) < 1<<16 {
		outer := append([]byte{0x0a}, varint(len(data))...)
		data = append(outer, data...)
	}
	if c := Count(data); !c.Deep {
		t.Errorf("all of it was counted: %+v", c)
	}
}

func varint(n int) []byte {
	var b bytes.Buffer
	for ; n >= 0x80; n >>= 7 {
		b.WriteByte(byte(n) | 0x80)
	}
	b.WriteByte(byte(n))
	return b.Bytes()
}

func FuzzCount(f *testing.F) {
	f.Add([]byte("k8s\x00\x12\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c := Count(data); c.Messages+c.Fields > fewBeyond+2*mostBeyond*mostLooks*len(data) {
			t.Errorf("%+v in %d bytes", c, len(data))
		}
	})
}

// BenchmarkCount counts three megabytes: of small messages, and of messages in one
// another.
func BenchmarkCount(b *testing.B) {
	deep := []byte{}
	for len(deep) < 3<<20 {
		level := bytes.Repeat([]byte{0x6a, 0}, 64<<9)
		deep = append(level, append(append([]byte{0x0a}, varint(len(deep))...), deep...)...)
	}
	for name, data := range map[string][]byte{"flat": bytes.Repeat([]byte{0x6a, 0}, 3<<19), "deep": deep} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				Count(data)
			}
		})
	}
}

// What ends decoding, in a group too, ends the count.
func TestWhatEndsDecodingIsNotSkipped(t *testing.T) {
	for name, c := range map[string]struct {
		kind protowire.Type
		data string
		want int
	}{
		"a text longer than the rest": {protowire.StartGroupType, "\x0a\x7f", -1},
		"a text of more than any":     {protowire.StartGroupType, "\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", -1},
		"a number without an end":     {protowire.VarintType, "\xff", -1},
		"a number that does not end":  {protowire.StartGroupType, "\x08\xff", -1},
		"a text in a group":           {protowire.StartGroupType, "\x0a\x01x\x0c", 4},
		"a number in a group":         {protowire.StartGroupType, "\x08\x01\x0c", 3},
		"a number":                    {protowire.VarintType, "\x80\x01", 2},
	} {
		if got := skip(c.kind, []byte(c.data)); got != c.want {
			t.Errorf("%s: %d bytes are skipped, not %d", name, got, c.want)
		}
	}
}
