package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// wants is the form in which the engine has to deliver what a client wants as
// form.
func wants(f form) resource.Form {
	if f.as == "PartialObjectMetadata" || f.as == "PartialObjectMetadataList" {
		return resource.MetadataOnly
	}
	return resource.Whole
}

// one finishes a single object that the engine delivered as it was wanted.
func (h *Handler) one(ctx context.Context, f form, t resource.Target, data []byte, v url.Values) ([]byte, error) {
	switch f.as {
	case "PartialObjectMetadataList":
		return nil, notAcceptable()
	case "Table":
		return tableOf(ctx, t, [][]byte{data}, tableMeta{version: f.version}, v)
	}
	return data, nil
}

// written puts the object that a write returned into the client's form.
func (h *Handler) written(ctx context.Context, f form, t resource.Target, data []byte, v url.Values) ([]byte, error) {
	if wants(f) == resource.MetadataOnly {
		s, e, err := object.Metadata(data)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		out := append([]byte(nil), partialHead...)
		data = append(append(out, data[s:e]...), '}')
	}
	return h.one(ctx, f, t, data, v)
}

const partialHead = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`

// render finishes a reply that is in memory.
func render(code int, f form, data []byte, v url.Values) (*Response, error) {
	resp := &Response{Code: code, ContentType: f.contentType(), Body: data}
	switch {
	case f.media == mediaYAML:
		out, err := yaml.JSONToYAML(data)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		resp.Body = out
	case pretty(v):
		var b bytes.Buffer
		if err := json.Indent(&b, data, "", "  "); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		resp.Body = b.Bytes()
	}
	return resp, nil
}

func pretty(v url.Values) bool {
	if len(v) == 0 {
		return false
	}
	on, err := strconv.ParseBool(v.Get("pretty"))
	return err == nil && on
}

// collection puts a list into the client's form. Plain JSON lists are
// streamed: head, objects as they are remembered, tail.
func (h *Handler) collection(ctx context.Context, f form, t resource.Target, l *resource.List, v url.Values) (*Response, error) {
	apiVersion, kind := t.Resource.Def.APIVersion(t.Version.Name), t.Resource.Def.ListKind
	if wants(f) == resource.MetadataOnly { // of a collection the list is meant, whichever was named (row MT-18)
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	if f.table() {
		data, err := tableOf(ctx, t, l.Items, tableMeta{l.Revision, l.Continue, l.Remaining, f.version}, v)
		if err != nil {
			return nil, err
		}
		return render(http.StatusOK, f, data, v)
	}
	b := body{head: listHead(apiVersion), items: l.Items, tail: listTail(kind, l)}
	if f.media == mediaJSON && !pretty(v) {
		return &Response{Code: http.StatusOK, ContentType: mediaJSON, Write: b.write, Length: b.length()}, nil
	}
	var buf bytes.Buffer
	if err := b.write(&buf); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return render(http.StatusOK, f, buf.Bytes(), v)
}

func listHead(apiVersion string) []byte {
	return append(object.AppendString([]byte(`{"apiVersion":`), apiVersion), `,"items":[`...)
}

func listTail(kind string, l *resource.List) []byte {
	b := object.AppendString([]byte(`],"kind":`), kind)
	b = append(b, `,"metadata":{`...)
	if l.Continue != "" {
		b = append(object.AppendString(append(b, `"continue":`...), l.Continue), ',')
	}
	if l.Remaining != nil {
		b = fmt.Appendf(b, `"remainingItemCount":%d,`, *l.Remaining)
	}
	return fmt.Appendf(b, "\"resourceVersion\":\"%d\"}}\n", l.Revision)
}

// body is a list ready to be sent; the items are shared.
type body struct {
	head, tail []byte
	items      [][]byte
}

func (b body) length() int {
	n := len(b.head) + len(b.tail) + max(len(b.items)-1, 0)
	for _, i := range b.items {
		n += len(i)
	}
	return n
}

// pieceSize is how much of a list is gathered for one write to the connection.
const pieceSize = 64 << 10

func (b body) write(w io.Writer) error {
	buf := make([]byte, 0, pieceSize+pieceSize/4)
	buf = append(buf, b.head...)
	for i, item := range b.items {
		if i > 0 {
			buf = append(buf, ',')
		}
		if len(buf)+len(item) > cap(buf) {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
		if len(item) > cap(buf) {
			if _, err := w.Write(item); err != nil {
				return err
			}
			continue
		}
		buf = append(buf, item...)
	}
	_, err := w.Write(append(buf, b.tail...))
	return err
}
