package wire

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkItem makes a stored ConfigMap of 1 KB an item of a list, with its
// resourceVersion, and the library does by way of the Go type.
func BenchmarkItem(b *testing.B) {
	stored, err := (&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "map-1", Namespace: "default", Labels: map[string]string{"app": "app-1"}, UID: "uid-1"},
		Data:       map[string]string{"settings": strings.Repeat("key=value;", 90)},
	}).Marshal()
	if err != nil {
		b.Fatal(err)
	}
	var out []byte
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m, err := New(stored, 42)
			if err != nil {
				b.Fatal(err)
			}
			out = m.AppendItem(out[:0])
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var o corev1.ConfigMap
			if err := o.Unmarshal(stored); err != nil {
				b.Fatal(err)
			}
			o.ResourceVersion = "42"
			if out, err = o.Marshal(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
