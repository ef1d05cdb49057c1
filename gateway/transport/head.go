package transport

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// headLook is what one look at the raw head of a request shows.
type headLook struct {
	// wrong tells what is wrong with a head that the framework accepts and
	// that another server in front of this one may read differently, so that
	// the two would not agree where a request ends or what its headers are.
	wrong string
	// impersonates: there are headers that ask for another identity.
	impersonates bool

	lengths, encodings int
}

// look reads the lines of a head.
func look(h *fasthttp.RequestHeader) headLook {
	var f headLook
	for line := range bytes.Lines(h.RawHeaders()) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && f.wrong == "" {
			f.wrong = f.line(line)
		}
	}
	switch {
	case f.wrong != "":
	case f.encodings > 1 || f.lengths > 1:
		f.wrong = "the length of the body is given more than once"
	case f.encodings > 0 && f.lengths > 0:
		f.wrong = "Content-Length and Transfer-Encoding exclude each other"
	case f.encodings > 0 && !h.IsHTTP11():
		f.wrong = "HTTP/1.0 has no Transfer-Encoding"
	}
	return f
}

// line notes one header line and tells what is wrong with it.
func (f *headLook) line(line []byte) string {
	name, value, ok := bytes.Cut(line, []byte(":"))
	switch {
	case !ok:
		return "a header line has no colon"
	case len(name) == 0 || bytes.ContainsAny(name, " \t"):
		return "a header name has a space"
	}
	switch name[0] | 0x20 { // lower case
	case 'c':
		if named(name, fasthttp.HeaderContentLength) {
			f.lengths++
		}
	case 't':
		if named(name, fasthttp.HeaderTransferEncoding) {
			if f.encodings++; !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
				return "the only Transfer-Encoding is chunked"
			}
		}
	case 'i':
		const prefix = "Impersonate-"
		f.impersonates = f.impersonates || named(name[:min(len(name), len(prefix))], prefix)
	}
	return ""
}

func named(name []byte, header string) bool {
	return len(name) == len(header) && bytes.EqualFold(name, []byte(header))
}
