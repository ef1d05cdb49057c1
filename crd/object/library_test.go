package object

import (
	"encoding/json"
	"testing"
)

// BenchmarkEncodeLibrary is the library beside [BenchmarkEncode].
func BenchmarkEncodeLibrary(b *testing.B) {
	m, _, err := Parse(bench)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := json.Marshal(m); err != nil {
			b.Fatal(err)
		}
	}
}
