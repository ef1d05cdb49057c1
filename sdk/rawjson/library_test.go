package rawjson

import (
	"encoding/json"
	"testing"
)

// BenchmarkMembers takes an object apart, and the library does.
func BenchmarkMembers(b *testing.B) {
	data := []byte(`{"apiVersion":"example.com/v1","kind":"Endpoint","metadata":{"labels":{"app":"app-1","env":"prod"},"name":"ep-1","namespace":"default"},` +
		`"spec":{"containers":[{"env":[{"name":"A","value":"1"},{"name":"B","value":"22"}]}],"paused":false,"replicas":3}}`)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for i, object := Enter(data, 0); i > 0; n++ {
				_, _, value := Member(data, i, object)
				end, err := Skip(data, value)
				if err != nil {
					b.Fatal(err)
				}
				if i = end + 1; data[end] != ',' {
					break
				}
			}
			if n != 3 { // commas
				b.Fatal(n)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(data, &members); err != nil || len(members) != 4 {
				b.Fatal(err)
			}
		}
	})
}
