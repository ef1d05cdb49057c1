package authn

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// changing is a file before and after a change: who is known by it then.
type changing struct {
	parse         func([]byte) (Authenticator, error)
	before, after []byte
	old, fresh    Request
}

// followed are files of all sorts.
func followed(t *testing.T) map[string]changing {
	t.Helper()
	first, second := newIssuer(t, "first"), newIssuer(t, "second")
	alice := pkix.Name{CommonName: "alice"}
	shown := func(i issuer) Request {
		return Request{ClientCerts: []*x509.Certificate{i.client(t, alice, x509.ExtKeyUsageClientAuth)}}
	}
	return map[string]changing{
		"tokens": {
			func(data []byte) (Authenticator, error) { return ParseTokens(bytes.NewReader(data)) },
			[]byte("aaaa,bob,1\n"), []byte("bbbb,bob,1\n"), Request{BearerToken: "aaaa"}, Request{BearerToken: "bbbb"},
		},
		"authorities": {
			func(data []byte) (Authenticator, error) { return NewClientCerts(data, nil) },
			first.pem(), second.pem(), shown(first), shown(second),
		},
	}
}

// A file that changes counts as it is now; while it is being written, or makes no
// sense, as it was.
func TestFilesAreFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	now := time.Now()
	write := func(content []byte, ago time.Duration) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, now.Add(-ago)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range followed(t) {
		t.Run(name, func(t *testing.T) {
			write([]byte("\"nonsense"), 0)
			if f, err := Follow(path, c.parse, nil, nil); err == nil {
				t.Fatalf("began with nonsense: %+v", f)
			}
			write(c.before, 0)
			told := []error{}
			f, err := Follow(path, c.parse, func(err error) { told = append(told, err) }, func() time.Time { return now })
			if err != nil {
				t.Fatal(err)
			}
			expect := func(when string, old, fresh bool) {
				t.Helper()
				if _, ok, _ := f.Authenticate(context.Background(), c.old); ok != old {
					t.Errorf("%s, who was known is now: %v", when, ok)
				}
				if _, ok, _ := f.Authenticate(context.Background(), c.fresh); ok != fresh {
					t.Errorf("%s, who is new is known: %v", when, ok)
				}
			}
			expect("at first", true, false)
			for _, trouble := range []func(){func() { write([]byte("\"nonsense"), time.Hour) }, func() { _ = os.Remove(path) }} {
				trouble()
				for range 3 {
					now = now.Add(lookEvery)
					expect("while the file makes no sense", true, false)
				}
			}
			if len(told) != 2 || told[0] == nil || told[1] == nil {
				t.Errorf("told %v, want two mistakes, each once", told)
			}
			now = now.Add(lookEvery)
			write(nil, lookEvery/2)
			expect("while it is written", true, false)
			write(c.after, lookEvery/2)
			now = now.Add(lookEvery)
			expect("after a change", false, true)
			if len(told) != 3 || told[2] != nil {
				t.Errorf("told %v of the change", told)
			}
			now = now.Add(lookEvery)
			expect("later", false, true)
			if len(told) != 3 {
				t.Errorf("told %v of nothing", told)
			}
		})
	}
}

// What can be read only once is what it was then.
func TestPipesAreReadOnce(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("aaaa,bob,1\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	f, err := Follow(fmt.Sprint("/dev/fd/", r.Fd()), func(data []byte) (Authenticator, error) { return ParseTokens(bytes.NewReader(data)) },
		func(err error) { t.Errorf("told %v", err) }, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	if _, ok, _ := f.Authenticate(context.Background(), Request{BearerToken: "aaaa"}); !ok {
		t.Error("forgotten")
	}
}

// A bundle of which a part cannot be read is not taken for the rest of it.
func TestBundlesAreWhole(t *testing.T) {
	bundle := append(newIssuer(t, "first").pem(), newIssuer(t, "second").pem()...)
	if _, err := NewClientCerts(bundle, nil); err != nil {
		t.Error(err)
	}
	for _, cut := range [][]byte{bundle[:len(bundle)-40], bytes.Replace(bundle, []byte("MII"), []byte("AAA"), 1), nil} {
		if _, err := NewClientCerts(cut, nil); err == nil {
			t.Errorf("taken:\n%s", cut)
		}
	}
}

// BenchmarkFollowing is what a file that may change adds to a request.
func BenchmarkFollowing(b *testing.B) {
	path := filepath.Join(b.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte("token,bob,1\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	parse := func(data []byte) (Authenticator, error) { return ParseTokens(bytes.NewReader(data)) }
	f, err := Follow(path, parse, func(error) {}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, a := range map[string]Authenticator{"followed": f, "fixed": *f.current.Load()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, ok, _ := a.Authenticate(context.Background(), Request{BearerToken: "token"}); !ok {
					b.Fatal("not known")
				}
			}
		})
	}
}
