package recorded

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// writer writes the headings of one story.
type writer struct {
	base string
	// object is what bodies are set off from, and status its status; encoded is
	// the object after a way through protobuf.
	object, status, encoded map[string]any
}

func newWriter(s story.Story) *writer {
	w := &writer{base: base(s)}
	object, _, err := decode(s.Sample)
	if err != nil {
		return w
	}
	w.object, _ = object.(map[string]any)
	w.object = maps.Clone(w.object)
	w.status, _ = w.object["status"].(map[string]any)
	delete(w.object, "status")
	if sent, err := story.ToProtobuf(encode(w.object)); err == nil {
		w.encoded, _ = fromProtobuf(sent)
	}
	return w
}

// body is a request's as text. Whatever it is, no other body has the same.
func (w *writer) body(step story.Step) string {
	text := step.Body
	if w.object != nil && step.Type == story.Protobuf {
		if v, ok := fromProtobuf(text); ok && w.encoded != nil {
			return short(less("object", w.encoded, v))
		}
	}
	v, canonical, err := decode(text)
	switch {
	case err != nil || strings.ContainsAny(text, "\n\r"):
		return short(strconv.Quote(text))
	case !canonical || w.object == nil:
		return short(text)
	}
	out := text
	switch v := v.(type) {
	case map[string]any:
		out = less("object", w.object, v)
	case []any:
		if ops, ok := w.operations(v); ok {
			out = ops
		}
	}
	if len(out) >= len(text) {
		out = text
	}
	return short(out)
}

// operations is a JSON patch with values that are set off from those of the object.
func (w *writer) operations(list []any) (string, bool) {
	var ops []string
	for _, v := range list {
		o, _ := v.(map[string]any)
		op, isOp := o["op"].(string)
		path, isPath := o["path"].(string)
		value, has := o["value"]
		if !isOp || !isPath || len(o) != 2 && !has || len(o) > 3 || plain(op) != op || plain(path) != path {
			return "", false
		}
		text := op + " " + path
		if has {
			text += " " + w.value(strings.TrimPrefix(path, "/"), value)
		}
		ops = append(ops, text)
	}
	return "[" + strings.Join(ops, ", ") + "]", true
}

// value is that of a field at the top of the object.
func (w *writer) value(field string, value any) string {
	text := encode(value)
	of, _ := w.object[field].(map[string]any)
	if field == "status" {
		of = w.status
	}
	now, ok := value.(map[string]any)
	if !ok || of == nil {
		return text
	}
	if l := less("object."+field, of, now); len(l) < len(text) {
		return l
	}
	return text
}

// decode reads a JSON text. It is canonical if the value says all of it but for the
// order of fields.
func decode(text string) (v any, canonical bool, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, false, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, false, errors.New("more than one value")
	}
	b, err := json.Marshal(v)
	return v, len(text) == len(b) || len(text) == len(encode(v)), err
}

// encode is a JSON value as text.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // it was read from JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fromProtobuf is an object in protobuf, if JSON says all of it.
func fromProtobuf(data string) (map[string]any, bool) {
	text, err := story.FromProtobuf([]byte(data))
	if err != nil {
		return nil, false
	}
	again, err := story.ToProtobuf(string(text))
	if err != nil || again != data {
		return nil, false
	}
	v, _, err := decode(string(text))
	o, ok := v.(map[string]any)
	return o, ok && err == nil
}
