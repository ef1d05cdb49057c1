package wire

import (
	"bytes"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
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
	if messages, fields, ok := Count(data); !ok || messages < 1100 || messages > 5000 || fields < 2000 || fields > 20_000 {
		t.Errorf("%d messages and %d fields of 100 containers with 10 variables each, %v", messages, fields, ok)
	}
	if messages, _, _ := Count(append([]byte(Magic), "\x12\x00\x12\x00\xff"...)); messages != 2 {
		t.Errorf("%d messages before a mistake, want 2", messages)
	}
	config := corev1.ConfigMap{Data: map[string]string{"text": strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 20_000)}}
	if data, err = config.Marshal(); err != nil {
		t.Fatal(err)
	}
	if messages, _, ok := Count(data); !ok || messages > len(data)/30 {
		t.Errorf("%d messages in %d bytes of text, %v", messages, len(data), ok)
	}
}

// Messages within messages to the last byte are not looked at for ever.
func TestDeepMessagesAreNotCountedForEver(t *testing.T) {
	data := []byte{}
	for len(data) < 1<<16 {
		outer := append([]byte{0x0a}, varint(len(data))...)
		data = append(outer, data...)
	}
	if _, _, ok := Count(data); ok {
		t.Error("all of it was counted")
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
		if messages, fields, ok := Count(data); ok && messages+fields > 2*mostLooks*len(data) {
			t.Errorf("%d messages and %d fields in %d bytes", messages, fields, len(data))
		}
	})
}
