package story

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Reply is a server's answer without what differs from run to run.
type Reply struct {
	Code int `json:"code"`
	// Header are the fields that clients act on, but for those that have their
	// usual value; "" is one that is missing.
	Header   map[string]string `json:"header,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	// Unordered tells that the order of causes, events and warnings says nothing:
	// they are sorted.
	Unordered bool `json:"unordered,omitempty"`
	// Body is what was answered, or the events of a stream.
	Body map[string]any `json:"body,omitempty"`
	// tree is the object in a body that is YAML, whose text Body has.
	tree map[string]any
	// unorderedCauses tells that the order of causes says nothing on any server.
	unorderedCauses bool
}

// usual are the header fields that clients act on, with the values that they have in
// most replies.
var usual = map[string]string{
	"Content-Type": JSON, "Cache-Control": "no-cache, private",
	"Allow": "", "Content-Encoding": "", "Location": "", "Retry-After": "", "Vary": "", "X-Content-Type-Options": "",
}

// newReply takes from an answer what no two servers, and no two moments, share:
// times, and the values of uids and revisions, of which remains where each was seen first.
func newReply(step Step, code int, header http.Header, body []byte, seen *sightings) (Reply, error) {
	r := Reply{Code: code, Warnings: header.Values("Warning")}
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		if value := strings.Join(header.Values(name), ", "); value != usual[name] {
			if r.Header == nil {
				r.Header = map[string]string{}
			}
			r.Header[name] = value
		}
	}
	if step.Brief && code < 300 {
		return r, nil
	}
	text, inProtobuf, err := asJSON(step, body)
	if err != nil {
		return r, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if step.Events && code < 300 {
		r.Body, err = seen.events(d)
	} else if d.Decode(&r.Body) != nil {
		r.Body = map[string]any{"text": lasting(string(body))}
		if bytes.HasPrefix(body, []byte("apiVersion: ")) && yaml.Unmarshal(body, &r.tree) == nil {
			seen.forget(r.tree)
		}
	} else {
		seen.forget(r.Body)
	}
	if inProtobuf && err == nil {
		r.Body["protobuf"] = true
	}
	return r, err
}

// asJSON is the body of a reply in JSON, where it is in protobuf, and whether it is.
func asJSON(step Step, body []byte) (text []byte, inProtobuf bool, err error) {
	switch {
	case bytes.HasPrefix(body, envelope):
		text, err = FromProtobuf(body)
	case step.Events && len(body) > 0 && body[0] == 0: // the length of a frame
		text, err = framesOf(body)
	default:
		return body, false, nil
	}
	return text, true, err
}

// Texts is the reply in one line, with its keys sorted.
func (r Reply) Texts() (Texts, error) {
	var t Texts
	var err error
	if r.unorderedCauses && r.Body["kind"] == "Status" {
		r = r.unordered()
	}
	if t.Ordered, err = oneLine(r); err == nil {
		t.Unordered, err = oneLine(r.unordered())
	}
	return t, err
}

func oneLine(r Reply) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return strings.TrimSpace(b.String()), err
}

// Structured is the reply with an object in place of the YAML that holds it.
func (r Reply) Structured() Reply {
	if r.tree != nil {
		r.Body = map[string]any{"yaml": r.tree}
	}
	return r
}
