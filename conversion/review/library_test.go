package review

import (
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// BenchmarkParseResponse reads a reply with 100 objects of 1 KB, and the library
// does, which copies them.
func BenchmarkParseResponse(b *testing.B) {
	object := `{"apiVersion":"example.com/v1","kind":"Endpoint","metadata":{"name":"ep-1","namespace":"default"},"spec":{"note":"` + strings.Repeat("n", 900) + `"}}`
	body := []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"1","result":{"status":"Success"},"convertedObjects":[` +
		strings.Repeat(object+",", 99) + object + `]}}`)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if objects, err := ParseResponse(body, V1, "1"); err != nil || len(objects) != 100 {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var r apiextensionsv1.ConversionReview
			if err := json.Unmarshal(body, &r); err != nil || len(r.Response.ConvertedObjects) != 100 {
				b.Fatal(err)
			}
		}
	})
}
