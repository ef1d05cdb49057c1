package form

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Render finishes a reply that is in memory as JSON. Whole objects in it are of
// version, which may be nil where there are none.
func (f Form) Render(code int, version *crd.Version, data []byte) (*reply.Response, error) {
	out, err := f.encode(version, data)
	if err != nil {
		return nil, err
	}
	return &reply.Response{Code: code, ContentType: f.media.Name(), Body: out}, nil
}

// encode puts a JSON text that is kept nowhere into the client's media type.
func (f Form) encode(version *crd.Version, data []byte) ([]byte, error) {
	out, err := f.shown().Codec().Document(data, version)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return out, nil
}

// Status turns a Status into what the client accepts: in JSON, and indented, if that is
// nothing that a Status can be. All other replies are left as they are.
func Status(resp *reply.Response, accept string, cbor, pretty bool) {
	if resp.Code < http.StatusBadRequest || resp.ContentType != encoding.TypeJSON || resp.Body == nil {
		return
	}
	f, err := Offer{cbor: cbor, messages: true}.Negotiate(accept)
	if err != nil {
		f = Form{media: encoding.JSON, pretty: true}
	}
	f.pretty = f.pretty || pretty
	if out, err := f.encode(nil, resp.Body); err == nil { // a Status is encodable, and stays JSON if not
		resp.Body, resp.ContentType = out, f.media.Name()
	}
}
