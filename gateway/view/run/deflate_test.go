package run

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
)

// noise is n bytes that do not compress, text some that do.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

func text(n int) []byte {
	var out []byte
	for i := 0; len(out) < n; i++ {
		out = fmt.Appendf(out, `{"kind":"ConfigMap","metadata":{"name":"m%d"}},`, i)
	}
	return out[:n]
}

func unzip(t testing.TB, b *Body) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := b.Write(&out); err != nil || out.Len() != b.Length() {
		t.Fatalf("%d of %d bytes: %v", out.Len(), b.Length(), err)
	}
	r, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false) // there is one member, since not all clients read more
	got, err := io.ReadAll(r)
	if err != nil || out.Len() != 0 {
		t.Fatalf("%d bytes are left: %v", out.Len(), err)
	}
	return got
}

func TestPiecesMakeOneReply_LIST01(t *testing.T) {
	for _, parts := range [][][]byte{
		nil, {nil}, {[]byte("a")}, {text(100), text(100)}, {noise(1), text(3), noise(200)},
		{text(300 << 10), noise(buffered), text(5), noise(3 * buffered), noise(buffered - 20)},
		{noise(buffered - 50), noise(200), text(1 << 20)},
	} {
		var b Body
		var want []byte
		for i, p := range parts {
			want = append(want, p...)
			if i%2 == 1 && len(p) < 1<<16 {
				b.Add(Verbatim(p))
			} else {
				b.Add(Compress(p))
			}
		}
		if got := unzip(t, &b); !bytes.Equal(got, want) {
			t.Errorf("%d bytes of %d", len(got), len(want))
		}
	}
}

func TestAPieceIsSmallAndKeepsNothing(t *testing.T) {
	data := text(256 << 10)
	p := Compress(data)
	if p.Size() > len(data)/4 || p.Size() < 100 {
		t.Errorf("%d bytes of %d", p.Size(), len(data))
	}
	want := bytes.Clone(data)
	clear(data)
	for range 3 { // a piece may be sent any number of times
		var b Body
		b.Add(Verbatim([]byte("[")))
		b.Add(p)
		b.Add(p)
		if got := unzip(t, &b); string(got) != "["+string(want)+string(want) {
			t.Errorf("%d bytes", len(got))
		}
	}
}

func TestChecksumsAreJoined(t *testing.T) {
	for _, sizes := range [][2]int{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {3, 255}, {1000, 256}, {70000, 65537}} {
		a, b := noise(sizes[0]), noise(sizes[1])
		if got, want := product(shiftBy(len(b)), crc32.ChecksumIEEE(a))^crc32.ChecksumIEEE(b), crc32.ChecksumIEEE(append(a, b...)); got != want {
			t.Errorf("%v: %08x, want %08x", sizes, got, want)
		}
	}
}

func TestPiecesAreMadeAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 20 {
				data := text(1000*n + i)
				var b Body
				b.Add(Compress(data))
				if got := unzip(t, &b); !bytes.Equal(got, data) {
					t.Errorf("%d: %d bytes", n, len(got))
				}
			}
		})
	}
	wg.Wait()
}

var errBroken = errors.New("broken")

// short is a writer that breaks after some bytes.
type short struct{ left int }

func (s *short) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestAConnectionThatBreaksIsNoticed(t *testing.T) {
	var b Body
	for _, n := range []int{10, 2 * buffered, buffered - 100, 200, 300} {
		b.Add(Compress(noise(n)))
	}
	for _, left := range []int{0, 1, buffered, 2 * buffered, 3 * buffered, b.Length() - 1} {
		if err := b.Write(&short{left}); !errors.Is(err, errBroken) {
			t.Errorf("after %d of %d bytes: %v", left, b.Length(), err)
		}
	}
	if err := b.Write(&short{b.Length()}); err != nil {
		t.Error(err)
	}
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte("hello"), []byte(""), []byte("hello hello"))
	f.Fuzz(func(t *testing.T, x, y, z []byte) {
		var b Body
		b.Add(Compress(x))
		if len(y) < 1<<16 {
			b.Add(Verbatim(y))
		}
		b.Add(Compress(z))
		if got := unzip(t, &b); len(y) < 1<<16 && string(got) != string(x)+string(y)+string(z) {
			t.Errorf("%q", got)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	data := text(128 << 10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		Compress(data)
	}
}

func BenchmarkJoin(b *testing.B) {
	p := Compress(text(128 << 10))
	for b.Loop() {
		var body Body
		for range 140 {
			body.Add(p)
		}
		if err := body.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
