package webhook

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A reply may have as much as it may, and a byte more breaks it, also where that is
// compressed to little.
func TestBounded(t *testing.T) {
	const most = 1 << 16
	for name, c := range map[string]struct {
		size   int
		packed bool
		want   error
	}{
		"none": {0, false, nil}, "all": {most, false, nil}, "one more": {most + 1, false, errTooLong},
		"all, compressed": {most, true, nil}, "one more, compressed": {most + 1, true, errTooLong}, "much more, compressed": {most << 8, true, errTooLong},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			text := []byte(strings.Repeat("a", c.size))
			if c.packed {
				var b bytes.Buffer
				z := gzip.NewWriter(&b)
				_, _ = z.Write(text)
				_ = z.Close()
				text = b.Bytes()
				w.Header().Set("Content-Encoding", "gzip")
			}
			_, _ = w.Write(text)
		}))
		client := &http.Client{Transport: Bounded(http.DefaultTransport, most)}
		resp, err := client.Get(s.URL)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := io.ReadAll(resp.Body)
		if !errors.Is(err, c.want) || len(got) != min(c.size, most) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if again, err := resp.Body.Read(make([]byte, 1)); again != 0 || err == nil {
			t.Errorf("%s: %d more bytes, %v", name, again, err)
		}
		_ = resp.Body.Close()
		s.Close()
	}
}

// Redirects are failures, wherever they lead; other replies are as they are.
func TestUnmoved(t *testing.T) {
	for code, want := range map[int]string{
		200: "", 404: "", 304: "", 301: "redirects are not followed", 302: "redirects are not followed", 307: "redirects are not followed", 308: "redirects are not followed",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				t.Errorf("%d: it was followed", code)
			}
			if code/100 == 3 && code != http.StatusNotModified {
				w.Header().Set("Location", "/elsewhere")
			}
			w.WriteHeader(code)
		}))
		resp, err := (&http.Client{Transport: Unmoved(http.DefaultTransport)}).Get(s.URL + "/")
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)), want == "" && (err != nil || resp.StatusCode != code):
			t.Errorf("%d: %v", code, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		s.Close()
	}
}
