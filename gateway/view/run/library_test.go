package run

import (
	"compress/gzip"
	"io"
	"testing"
)

// BenchmarkReply is a list of a megabyte, compressed: of pieces that are kept, and
// by the library, which keeps nothing.
func BenchmarkReply(b *testing.B) {
	data := text(128 << 10)
	b.Run("pieces", func(b *testing.B) {
		p := Compress(data)
		for b.Loop() {
			var body Body
			for range 8 {
				body.Add(p)
			}
			if err := body.Write(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			w.Reset(io.Discard)
			for range 8 {
				if _, err := w.Write(data); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
