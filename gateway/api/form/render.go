package form

import (
	"context"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/gateway/view/run"
)

// Single replies with an object that is kept, in the client's form.
func (f Form) Single(ctx context.Context, t resource.Target, o encoding.Object, v url.Values) (*reply.Response, error) {
	if f.as == "PartialObjectMetadataList" {
		return nil, f.mismatched(t)
	}
	if f.table() {
		data, err := tableOf(ctx, t, o.Bytes(), f.version, v)
		if err != nil {
			return nil, err
		}
		return f.Render(http.StatusOK, t.Version, data)
	}
	out, err := f.shown().Codec().Single(o, f.kind(t))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return &reply.Response{Code: http.StatusOK, ContentType: f.media.Name(), Body: out, Kept: f.shown() == encoding.JSON}, nil
}

// Written puts the object that a write returned into the client's form, as JSON.
func (f Form) Written(ctx context.Context, t resource.Target, data []byte, v url.Values) ([]byte, error) {
	if f.as == "PartialObjectMetadataList" {
		return nil, f.mismatched(t)
	}
	data, err := encoding.JSON.Keeper().Keep(data, f.Encoding(t), t.Version)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if f.table() {
		return tableOf(ctx, t, data, f.version, v)
	}
	return data, nil
}

// Plain is the form with everything in JSON for programs, not compressed.
func (f Form) Plain() Form {
	f.media, f.pretty, f.gzip = encoding.JSON, false, false
	return f
}

// kind names what single objects are in this form.
func (f Form) kind(t resource.Target) schema.GroupVersionKind {
	if f.partial() {
		return schema.GroupVersionKind{Group: metav1.GroupName, Version: f.version, Kind: "PartialObjectMetadata"}
	}
	return t.Resource.Def.GVK(t.Version.Name)
}

// around is a list but for its items. Of a collection of metadata the list is meant,
// whichever was named (row MT-18).
func (f Form) around(t resource.Target, l *resource.List) *encoding.List {
	out := &encoding.List{Kind: t.Resource.Def.ListKind, ListMeta: l.Meta(), Null: f.partial()}
	out.APIVersion, _ = f.kind(t).ToAPIVersionAndKind()
	if f.partial() {
		out.Kind = "PartialObjectMetadataList"
	}
	return out
}

// Collection puts a list into the client's form. What is kept as it is sent is
// streamed: head, objects as they are remembered, tail. All else is made of the
// objects in JSON while it is sent.
func (f Form) Collection(ctx context.Context, t resource.Target, l *resource.List, v url.Values) (*reply.Response, error) {
	if f.count {
		l = counted(l)
	}
	in := f.Encoding(t)
	if f.shown() != in.Media || f.table() {
		texts, err := t.Resource.Objects(ctx, nil, l.Entries, in)
		if err != nil {
			return nil, err
		}
		if f.table() {
			return tableList(ctx, f, t, texts, l.Meta(), v)
		}
		return gradually(ctx, f, f.around(t, l), objects(texts))
	}
	runs := run.KeyOf(t.Resource.Renderer, in)
	s, err := gather(ctx, f, t, l.Entries, runs)
	if err != nil {
		return nil, err
	}
	if s.head, s.tail, err = f.media.Codec().Around(f.around(t, l), len(l.Entries), s.length()); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return s.response(f, l.Entries, runs)
}

// counted is a list without its objects, which are counted. Where it does not end,
// as a deletion of so many does not, it still says where to go on.
func counted(l *resource.List) *resource.List {
	n, none := int64(len(l.Entries)), *l
	none.Remaining, none.Entries = &n, nil
	return &none
}
