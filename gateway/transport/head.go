package transport

import (
	"bytes"
	"net/http"
	"net/url"

	"github.com/valyala/fasthttp"
)

// headLook is what one look at the raw head of a request shows.
type headLook struct {
	// wrong tells what is wrong with a head that the framework accepts and
	// that another server in front of this one may read differently, so that
	// the two would not agree where a request ends or what its headers are.
	// what HTTP itself says has to be refused, is that, too.
	wrong string
	// code is the answer to what is wrong; 0 for 400.
	code int
	// impersonates: there are headers that ask for another identity.
	impersonates bool
	// upgrades: the client asks for another protocol. closes: nothing comes after this
	// request.
	upgrades, closes bool

	lengths, encodings, hosts, authorizations int

	contentType, userAgent leading
}

// leading is a header of which the first one counts, as for servers in Go: the framework
// keeps the last.
type leading struct {
	times int
	value []byte
}

func (l *leading) note(value []byte) {
	if l.times++; l.times == 1 {
		l.value = bytes.Trim(value, " \t")
	}
}

// look reads the lines of a head.
func look(h *fasthttp.RequestHeader) headLook {
	var f headLook
	for line := range bytes.Lines(h.RawHeaders()) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && f.wrong == "" {
			f.wrong = f.line(line)
		}
	}
	if f.contentType.times > 1 {
		h.SetContentTypeBytes(f.contentType.value)
	}
	if f.userAgent.times > 1 {
		h.SetUserAgentBytes(f.userAgent.value)
	}
	f.request(h)
	switch {
	case f.wrong != "":
	case f.hosts > 1:
		f.wrong = "Host is given more than once"
	case f.hosts == 0 && h.IsHTTP11():
		f.wrong = "HTTP/1.1 needs a Host"
	case f.authorizations > 1:
		f.wrong = "Authorization is given more than once"
	case f.encodings > 1 || f.lengths > 1:
		f.wrong = "the length of the body is given more than once"
	case f.encodings > 0 && f.lengths > 0:
		f.wrong = "Content-Length and Transfer-Encoding exclude each other"
	case f.encodings > 0 && !h.IsHTTP11():
		f.wrong = "HTTP/1.0 has no Transfer-Encoding"
	}
	return f
}

// request tells what is wrong with the line before the headers.
func (f *headLook) request(h *fasthttp.RequestHeader) {
	if version := h.Protocol(); len(version) < 6 || version[5] != '1' { // "HTTP/1.1"
		f.wrong, f.code = "the HTTP version is neither 1.0 nor 1.1", http.StatusHTTPVersionNotSupported
		return
	}
	if f.wrong != "" {
		return
	}
	if path := rawPath(h); bytes.Contains(path, []byte("%")) {
		if _, err := url.PathUnescape(string(path)); err != nil {
			f.wrong = "the path has a percent sign without two hexadecimal digits after it"
			return
		}
	}
	uri := h.RequestURI()
	if len(uri) == 0 || uri[0] == '/' {
		return
	}
	switch _, absolute := withoutHost(uri); {
	case absolute, string(uri) == "*" && string(h.Method()) == http.MethodOptions, string(h.Method()) == http.MethodConnect:
	default:
		f.wrong = "the target of the request is neither a path nor a URL"
	}
}

// withoutHost is the path and query of a URL, which is what clients send to proxies.
func withoutHost(uri []byte) (rest []byte, absolute bool) {
	scheme, rest, ok := bytes.Cut(uri, []byte("://"))
	if !ok || !bytes.EqualFold(scheme, []byte("https")) && !bytes.EqualFold(scheme, []byte("http")) {
		return uri, false
	}
	switch i := bytes.IndexAny(rest, "/?#"); {
	case i == 0:
		return uri, false // it names no host
	case i < 0:
		return []byte("/"), true
	case rest[i] == '/':
		return rest[i:], true
	default:
		return append([]byte("/"), rest[i:]...), true
	}
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
		} else if named(name, fasthttp.HeaderContentType) {
			f.contentType.note(value)
		} else if named(name, fasthttp.HeaderConnection) {
			f.connection(value)
		}
	case 'u':
		if named(name, fasthttp.HeaderUserAgent) {
			f.userAgent.note(value)
		}
	case 't':
		if named(name, fasthttp.HeaderTransferEncoding) {
			if f.encodings++; !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
				return "the only Transfer-Encoding is chunked"
			}
		}
	case 'h':
		if named(name, fasthttp.HeaderHost) {
			f.hosts++
		}
	case 'a':
		if named(name, fasthttp.HeaderAuthorization) {
			f.authorizations++
		}
	case 'e':
		if named(name, fasthttp.HeaderExpect) && !bytes.EqualFold(bytes.TrimSpace(value), []byte(goOn)) {
			f.code = http.StatusExpectationFailed
			return "the only Expect is " + goOn
		}
	case 'i':
		const prefix = "Impersonate-"
		f.impersonates = f.impersonates || named(name[:min(len(name), len(prefix))], prefix)
	}
	return ""
}

// connection notes what is said of the connection: in any of several headers, in any
// letters and beside other things, of which the framework sees some only.
func (f *headLook) connection(value []byte) {
	for more := true; more; {
		var one []byte
		one, value, more = bytes.Cut(value, []byte(","))
		one = bytes.Trim(one, " \t")
		f.upgrades = f.upgrades || bytes.EqualFold(one, []byte("upgrade"))
		f.closes = f.closes || bytes.EqualFold(one, []byte("close"))
	}
}

// goOn is what a client expects that wants to hear whether to send its body.
const goOn = "100-continue"

func named(name []byte, header string) bool {
	return len(name) == len(header) && bytes.EqualFold(name, []byte(header))
}
