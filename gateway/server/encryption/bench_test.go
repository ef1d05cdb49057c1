package encryption

import (
	"bytes"
	"testing"
)

// BenchmarkValues writes and reads a value of 2 KB with each provider. No rule names
// what is "unnamed", and no rule can name what is "none".
func BenchmarkValues(b *testing.B) {
	plain := bytes.Repeat([]byte("0123456789abcdef"), 128)
	for _, kind := range []string{"none", "unnamed", "identity", "aesgcm", "aescbc", "secretbox"} {
		config, key := of("secrets", provider(kind, "1", key1)), secretKey
		switch kind {
		case "none":
			config, key = of("configmaps", "{identity: {}}"), "/registry/claims/a"
		case "unnamed":
			config = of("configmaps", "{identity: {}}")
		case "identity":
			config = of("secrets", "{identity: {}}")
		}
		e := mustLoad(b, configFile(b, config))
		kept, err := e.ToStorage(b.Context(), key, plain)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("write/"+kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.ToStorage(b.Context(), key, plain); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("read/"+kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := e.FromStorage(b.Context(), key, kept); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
