package webhook

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// MaxAnswerBytes is the largest answer that [Bounded] reads of a server that says who
// somebody is or what somebody may: of users with thousands of groups it has a few
// hundred kilobytes.
const MaxAnswerBytes = 1 << 20

var errTooLong = errors.New("the reply is too large")

// Bounded makes the transport of a library's client, which reads what a server sends to
// its end, one that ends replies after so many bytes, once they are decompressed.
func Bounded(by http.RoundTripper, most int64) http.RoundTripper { return bounded{by, most} }

type bounded struct {
	by   http.RoundTripper
	most int64
}

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.by.RoundTrip(r)
	if err == nil && resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = &limited{ReadCloser: resp.Body, left: b.most}
	}
	return resp, err
}

// limited is a body that may have so many bytes more.
type limited struct {
	io.ReadCloser
	left int64
}

// Read implements [io.Reader].
func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, errTooLong
	}
	p = p[:min(int64(len(p)), l.left+1)] // one more tells that there are more
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n - 1, errTooLong
	}
	return n, err
}

// Unmoved makes the transport of a library's client, which would follow redirects, one
// that does not: whoever they name would be sent what is meant for this server, and the
// credentials that are shown to it.
func Unmoved(by http.RoundTripper) http.RoundTripper { return unmoved{by} }

type unmoved struct{ by http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (u unmoved) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := u.by.RoundTrip(r)
	if err != nil || resp.StatusCode < http.StatusMultipleChoices || resp.StatusCode >= http.StatusBadRequest || resp.Header.Get("Location") == "" {
		return resp, err
	}
	_ = resp.Body.Close()
	return nil, fmt.Errorf("the server answered %s, and redirects are not followed", resp.Status)
}
