package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// A request may have maxWarnings characters of warnings. Once there are more,
// each is cut to maxWarning, and when that is not enough, later ones are
// dropped; all as in kube-apiserver.
const (
	maxWarning  = 256
	maxWarnings = 4 * 1024
)

// warnings collects the warnings of one request, each once.
type warnings struct {
	seen map[string]bool
	list []string
	size int // characters in list
	cut  bool
}

func (w *warnings) add(text string) {
	if text == "" || w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	if !w.cut && w.size+utf8.RuneCountInString(text) > maxWarnings {
		w.shorten()
	}
	if w.cut {
		text = cutTo(text, maxWarning)
	}
	if n := utf8.RuneCountInString(text); w.size+n <= maxWarnings {
		w.size += n
		w.list = append(w.list, text)
	}
}

// maxMissing is how many missing objects are told of one by one.
const maxMissing = 10

// missing tells what a collection of t leaves out: how many objects, which, and of the
// first ones why.
func (w *warnings) missing(t resource.Target, all []resource.Missing) {
	if len(all) == 0 {
		return
	}
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Key
	}
	w.add(fmt.Sprintf("%d %s cannot be converted to %s and are left out: %s", len(all), t.GroupResource(), t.Version.Name, strings.Join(names, ", ")))
	for _, m := range all[:min(len(all), maxMissing)] {
		w.add(cutTo(m.Key+": "+m.Why.Error(), maxWarning))
	}
}

// shorten cuts all warnings collected so far.
func (w *warnings) shorten() {
	w.cut, w.size = true, 0
	for i, text := range w.list {
		w.list[i] = cutTo(text, maxWarning)
		w.size += utf8.RuneCountInString(w.list[i])
	}
}

// headers are the warnings as header fields.
func (w *warnings) headers() []reply.Header {
	out := make([]reply.Header, len(w.list))
	for i, text := range w.list {
		out[i] = warningHeader(text)
	}
	return out
}

// on adds the warnings to the outcome of a request, be it an error. A request
// that starts over because its definition was replaced collects them again.
func (w *warnings) on(resp *reply.Response, err error) (*reply.Response, error) {
	switch {
	case errors.Is(err, catalog.ErrReplaced):
		return nil, err
	case err != nil && len(w.list) == 0:
		return nil, err
	case err != nil:
		resp = reply.Error(err)
	}
	resp.Headers = append(resp.Headers, w.headers()...)
	return resp, nil
}

// cutTo is the first n characters of text.
func cutTo(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// warningHeader is a warning in the form of RFC 7234, section 5.5. What could
// end the header field is left out.
func warningHeader(text string) reply.Header {
	var b strings.Builder
	b.WriteString(`299 - "`)
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case unicode.IsControl(c):
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return reply.Header{Name: "Warning", Value: b.String()}
}

// Warn adds a warning to the reply, whatever that is, once.
func (c *Call) Warn(text string) {
	if !slices.Contains(c.warned, text) {
		c.warned = append(c.warned, text)
	}
}

// Warned adds to a reply what [Call.Warn] was told, before other warnings.
func (c *Call) Warned(resp *reply.Response) *reply.Response {
	for i, text := range c.warned {
		resp.Headers = slices.Insert(resp.Headers, i, warningHeader(text))
	}
	return resp
}

// deprecated tells everybody who wants to know that a deprecated version was
// asked for.
func deprecated(by Observer, c *Call, resp *reply.Response) {
	v := c.version
	if v.Warning != "" {
		resp.Headers = slices.Insert(resp.Headers, 0, warningHeader(v.Warning))
	}
	by.Deprecated(&c.Info, v.RemovedRelease)
	c.Annotate("k8s.io/deprecated", "true")
	if v.RemovedRelease != "" {
		c.Annotate("k8s.io/removed-release", v.RemovedRelease)
	}
}
