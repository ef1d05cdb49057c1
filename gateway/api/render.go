package api

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/catalog"
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
		return nil, f.mismatched(t)
	case "PartialObjectMetadata":
		return f.partial(data), nil
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

const (
	partialHead = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`
	// partialHeadV1beta1 begins the same at the version before.
	partialHeadV1beta1 = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":`
)

// partial is a PartialObjectMetadata at the version that is wanted.
func (f form) partial(data []byte) []byte {
	if rest, ok := bytes.CutPrefix(data, []byte(partialHead)); ok && f.version == "v1beta1" {
		return append([]byte(partialHeadV1beta1), rest...)
	}
	return data
}

// kind names what single objects are in this form.
func (f form) kind(t resource.Target) (apiVersion, kind string) {
	if wants(f) == resource.MetadataOnly {
		return metaGroup + f.version, "PartialObjectMetadata"
	}
	return t.Resource.Def.APIVersion(t.Version.Name), t.Resource.Def.Kind
}

// listKind names what collections are in this form. Of a collection of
// metadata the list is meant, whichever was named (row MT-18).
func (f form) listKind(t resource.Target) (apiVersion, kind string) {
	apiVersion, kind = f.kind(t)
	if wants(f) == resource.MetadataOnly {
		return apiVersion, kind + "List"
	}
	return apiVersion, t.Resource.Def.ListKind
}

// collection puts a list into the client's form. JSON and protobuf are
// streamed: head, objects as they are remembered, tail. All else is made of the
// objects in JSON while it is sent.
func (h *Handler) collection(ctx context.Context, f form, t resource.Target, l *resource.List, v url.Values) (*Response, error) {
	in := f.encoding(t)
	if f.media == mediaProtobuf {
		return h.messages(ctx, f, t, l, in)
	}
	if f.media == mediaJSON && !f.pretty && !f.table() {
		s, err := gather(f, t, l.Entries, in, func(due []*catalog.Entry) (items, error) { return f.objects(ctx, t, due) })
		if err != nil {
			return nil, err
		}
		s.head, s.tail = f.around(t, l)
		return s.response(f, l.Entries, in)
	}
	views, err := f.objects(ctx, t, l.Entries)
	if err != nil {
		return nil, err
	}
	if f.table() {
		return tableList(ctx, f, t, views, tableMeta{l.Revision, l.Continue, l.Remaining, f.version}, v)
	}
	head, tail := f.around(t, l)
	return gradually(ctx, f, frame{"items", head, tail}, views)
}

// objects are entries in JSON.
func (f form) objects(ctx context.Context, t resource.Target, entries []*catalog.Entry) (objects, error) {
	views, err := t.Views(ctx, entries, wants(f))
	if err == nil && f.version == "v1beta1" && !f.table() {
		for i, data := range views {
			views[i] = f.partial(data)
		}
	}
	return views, err
}

// messages is collection for protobuf.
func (h *Handler) messages(ctx context.Context, f form, t resource.Target, l *resource.List, in catalog.Encoding) (*Response, error) {
	s, err := gather(f, t, l.Entries, in, func(due []*catalog.Entry) (items, error) {
		all, err := t.Messages(ctx, due, wants(f))
		return messages(all), err
	})
	if err != nil {
		return nil, err
	}
	apiVersion, kind := f.listKind(t)
	around, err := wire.NewList(apiVersion, kind, metav1.ListMeta{
		ResourceVersion: revisionOf(l.Revision), Continue: l.Continue, RemainingItemCount: l.Remaining,
	}, s.length())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	s.head, s.tail = around.Head, around.Tail
	return s.response(f, l.Entries, in)
}

// encoding says what the items of a list are derived with, before they are.
func (f form) encoding(t resource.Target) catalog.Encoding {
	variant := f.media + " " + f.version
	if wants(f) == resource.MetadataOnly {
		return t.Resource.MetadataIn(variant)
	}
	return t.Resource.WholeIn(t.Version.Name, variant)
}

// around is what stands around the items of a list in JSON. Of a list of metadata
// that has none kube-apiserver says null.
func (f form) around(t resource.Target, l *resource.List) (head, tail []byte) {
	apiVersion, kind := f.listKind(t)
	head, tail = listHead(apiVersion), listTail(kind, l)
	if len(l.Entries) == 0 && wants(f) == resource.MetadataOnly {
		head, tail = append(head[:len(head)-1], "null"...), tail[1:]
	}
	return head, tail
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
	if revision := revisionOf(l.Revision); revision != "" {
		b = object.AppendString(append(b, `"resourceVersion":`...), revision)
	}
	return append(b, "}}\n"...)
}

// revisionOf is a resourceVersion, "" of what has none.
func revisionOf(revision int64) string {
	if revision == 0 {
		return ""
	}
	return strconv.FormatInt(revision, 10)
}
