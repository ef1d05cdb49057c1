package transport

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// mistake tells what is wrong with a head that the framework accepts and that
// another server in front of this one may read differently, so that the two
// would not agree where a request ends or what its headers are. It is empty
// for a good head.
func mistake(h *fasthttp.RequestHeader) string {
	var lengths, encodings int
	for line := range bytes.Lines(h.RawHeaders()) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		switch {
		case !ok:
			return "a header line has no colon"
		case len(name) == 0 || bytes.ContainsAny(name, " \t"):
			return "a header name has a space"
		case named(name, fasthttp.HeaderContentLength):
			lengths++
		case named(name, fasthttp.HeaderTransferEncoding):
			if encodings++; !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
				return "the only Transfer-Encoding is chunked"
			}
		}
	}
	switch {
	case encodings > 1 || lengths > 1:
		return "the length of the body is given more than once"
	case encodings > 0 && lengths > 0:
		return "Content-Length and Transfer-Encoding exclude each other"
	case encodings > 0 && !h.IsHTTP11():
		return "HTTP/1.0 has no Transfer-Encoding"
	}
	return ""
}

func named(name []byte, header string) bool {
	return len(name) == len(header) && bytes.EqualFold(name, []byte(header))
}
